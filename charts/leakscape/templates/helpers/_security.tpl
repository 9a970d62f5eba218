{{/* Security contexts: what a pod of this chart may do. */}}

{{- define "leakscape.security.pod" -}}
runAsNonRoot: true
{{- range $key := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- $value := index $.Values.security $key }}
{{- if not (kindIs "invalid" $value) }}
{{ $key }}: {{ $value | int64 }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" .Values.security.fsGroup) }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "leakscape.security.container" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
