{{/* The vLLM server. */}}

{{- define "leakscape.vllm.name" -}}
{{ include "leakscape.object" (list . "vllm") }}
{{- end }}

{{- define "leakscape.vllm.url" -}}
http://{{ include "leakscape.vllm.name" . }}.{{ .Release.Namespace }}.svc:{{ .Values.vllm.service.port | int }}/v1
{{- end }}

{{- define "leakscape.vllm.args" -}}
{{- with .Values.vllm -}}
{{- $args := list .model "--port=8000" -}}
{{- with .revision -}}{{- $args = append $args (printf "--revision=%s" .) -}}{{- end -}}
{{- with .servedName -}}{{- $args = append $args (printf "--served-model-name=%s" .) -}}{{- end -}}
{{- if gt (int .gpu.count) 1 -}}{{- $args = append $args (printf "--tensor-parallel-size=%d" (int .gpu.count)) -}}{{- end -}}
{{ concat $args .args | toJson }}
{{- end -}}
{{- end }}

{{- define "leakscape.vllm.claim" -}}
{{- with .Values.vllm.cache -}}
{{- if .existingClaim -}}{{ .existingClaim }}
{{- else if .create -}}{{ include "leakscape.object" (list $ "models") }}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "leakscape.vllm.env" -}}
- {name: HOME, value: /tmp}
- {name: HF_HOME, value: /models/hub}
- {name: VLLM_CACHE_ROOT, value: /models/vllm}
- {name: XDG_CACHE_HOME, value: /tmp/cache}
- {name: TRITON_CACHE_DIR, value: /tmp/triton}
- {name: TORCHINDUCTOR_CACHE_DIR, value: /tmp/inductor}
- {name: VLLM_NO_USAGE_STATS, value: "1"}
- {name: DO_NOT_TRACK, value: "1"}
{{- if .Values.vllm.offline }}
- {name: HF_HUB_OFFLINE, value: "1"}
{{- else }}
- name: HF_TOKEN
  valueFrom:
    secretKeyRef: {name: {{ .Values.secrets.hub }}, key: HF_TOKEN, optional: true}
{{- end }}
{{- with .Values.vllm.apiKey }}
{{- if .existingSecret }}
- name: VLLM_API_KEY
  valueFrom:
    secretKeyRef: {name: {{ .existingSecret }}, key: {{ .key }}}
{{- end }}
{{- end }}
{{- end }}

{{- define "leakscape.vllm.resources" -}}
{{- $gpu := dict .Values.vllm.gpu.resource (.Values.vllm.gpu.count | int | toString) -}}
requests:
  {{- merge (dict) $gpu .Values.vllm.resources.requests | toYaml | nindent 2 }}
limits:
  {{- merge (dict) $gpu .Values.vllm.resources.limits | toYaml | nindent 2 }}
{{- end }}
