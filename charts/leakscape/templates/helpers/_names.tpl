{{/* Names and labels. */}}

{{/*
The name of an object: PREFIX or PREFIX-SUFFIX, a DNS label of at most 63 characters. A prefix that is too long is cut
and gets a digest of the whole, so that two long releases do not share names.
Takes a list of the root context and the suffix ("" for none).
*/}}
{{- define "leakscape.object" -}}
{{- $root := index . 0 -}}
{{- $suffix := index . 1 -}}
{{- $name := default $root.Chart.Name $root.Values.nameOverride -}}
{{- $whole := printf "%s-%s" $root.Release.Name $name -}}
{{- if contains $name $root.Release.Name -}}{{- $whole = $root.Release.Name -}}{{- end -}}
{{- $whole = default $whole $root.Values.fullnameOverride | replace "." "-" -}}
{{- if not (regexMatch "^[a-z]" $whole) -}}{{- $whole = printf "r-%s" $whole -}}{{- end -}}
{{- $room := 63 -}}
{{- if $suffix -}}{{- $room = sub 62 (len $suffix) | int -}}{{- end -}}
{{- if gt (len $whole) $room -}}
{{- $whole = printf "%s-%s" (trunc (sub $room 9 | int) $whole | trimSuffix "-") (sha256sum $whole | trunc 8) -}}
{{- end -}}
{{- if $suffix -}}{{ printf "%s-%s" $whole $suffix }}{{- else -}}{{ $whole }}{{- end -}}
{{- end }}

{{/* The labels that select a component's pods. Takes a list of the root context and the component. */}}
{{- define "leakscape.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ default $root.Chart.Name $root.Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of every object. Takes a list of the root context and the component. */}}
{{- define "leakscape.labels" -}}
{{- $root := index . 0 -}}
{{ include "leakscape.selectorLabels" . }}
app.kubernetes.io/part-of: leakscape
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
The labels of a pod. No service mesh joins it: a job with a sidecar never ends, and steps have none either.
Takes a list of the root context and the component.
*/}}
{{- define "leakscape.podLabels" -}}
{{ include "leakscape.labels" . }}
sidecar.istio.io/inject: "false"
{{- end }}

{{/* The service account of the job that registers. */}}
{{- define "leakscape.register.serviceAccount" -}}
{{- with .Values.register.serviceAccount -}}
{{- if .name -}}{{ .name }}
{{- else if .create -}}{{ include "leakscape.object" (list $ "register") }}
{{- else -}}default
{{- end -}}
{{- end -}}
{{- end }}

{{/* The service account of the steps; "" for Kubeflow's default. */}}
{{- define "leakscape.runner.serviceAccount" -}}
{{- with .Values.runner.serviceAccount -}}
{{- if .name -}}{{ .name }}
{{- else if .create -}}{{ include "leakscape.object" (list $ "runner") }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The service account of the vLLM servers. */}}
{{- define "leakscape.vllm.serviceAccount" -}}
{{- with .Values.vllm.serviceAccount -}}
{{- if .name -}}{{ .name }}
{{- else if .create -}}{{ include "leakscape.object" (list $ "vllm") }}
{{- else -}}default
{{- end -}}
{{- end -}}
{{- end }}

{{/* The priority class of this release's pods; "" for none. */}}
{{- define "leakscape.priorityClass" -}}
{{- with .Values.priorityClass -}}
{{- if .name -}}{{ .name }}
{{- else if .create -}}{{ include "leakscape.object" (list $ "") }}
{{- end -}}
{{- end -}}
{{- end }}
