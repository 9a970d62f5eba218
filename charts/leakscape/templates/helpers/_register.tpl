{{/* What `leakscape register` reads: its format is described in docs/registrations.md. */}}

{{- define "leakscape.token.path" -}}
{{- if ne .Values.kubeflow.auth.mode "none" -}}/var/run/secrets/leakscape/{{ include "leakscape.token.key" . }}{{- end -}}
{{- end }}

{{- define "leakscape.token.key" -}}
{{- if eq .Values.kubeflow.auth.mode "secret" -}}{{ .Values.kubeflow.auth.key }}{{- else -}}token{{- end -}}
{{- end }}

{{/* The part of the file that does not depend on what is registered. */}}
{{- define "leakscape.registrations.head" -}}
schema: leakscape/registrations/1
endpoint: {{ .Values.kubeflow.endpoint | quote }}
namespace: {{ ternary .Release.Namespace "" .Values.kubeflow.multiUser | quote }}
token_file: {{ include "leakscape.token.path" . | quote }}
ca_file: {{ with .Values.kubeflow.ca }}{{ ternary (printf "/etc/leakscape-ca/%s" .key) "" (ne .configMap "") | quote }}{{ end }}
owner: {{ default .Release.Name .Values.register.owner | replace "." "-" | quote }}
experiment: {{ .Values.kubeflow.experiment | quote }}
service_account: {{ include "leakscape.runner.serviceAccount" . | quote }}
pipeline_root: {{ .Values.kubeflow.pipelineRoot | quote }}
dev: {{ .Values.dev }}
images:
  {{- range $name := list "base" "train" "rewrite" "evaluate" }}
  {{ $name }}: {{ include "leakscape.image" (list $ $name) | quote }}
  {{- end }}
{{- end }}

{{- define "leakscape.registrations" -}}
{{ include "leakscape.registrations.head" . }}
parameters: {{ include "leakscape.parameters" . | fromYaml | toJson }}
prune: {{ .Values.register.prune }}
{{- $own := .Values.plans }}
{{- $names := list }}
{{- with .Values.registrations }}
registrations:
  {{- range . }}
  {{- if has .name $names }}{{ fail (printf "registrations: %s stands there twice; each needs a name of its own." .name) }}{{ end }}
  {{- $names = append $names .name }}
  - name: {{ .name | quote }}
    plan: {{ ternary (printf "/etc/leakscape/plans/%s.yaml" .plan) .plan (hasKey $own .plan) | quote }}
    set: {{ default list .overrides | toJson }}
    parameters: {{ default dict .parameters | toJson }}
    refresh: {{ default "" .refresh | quote }}
    {{- with .schedule }}
    schedule:
      cron: {{ .cron | quote }}
      enabled: {{ ternary .enabled true (hasKey . "enabled") }}
      max_concurrency: 1
      no_catchup: true
    {{- end }}
  {{- end }}
{{- else }}
registrations: []
{{- end }}
{{- end }}

{{/* Parameters for every pipeline that has them. The names of secrets are among them where they differ from the pipelines'. */}}
{{- define "leakscape.parameters" -}}
{{- $secrets := dict -}}
{{- if and (eq .Values.s3.mode "static-keys") (ne .Values.s3.existingSecret "leakscape-s3") -}}
{{- $_ := set $secrets "s3_secret" .Values.s3.existingSecret -}}
{{- end -}}
{{- if ne .Values.secrets.hub "leakscape-hub" -}}{{- $_ := set $secrets "hub_secret" .Values.secrets.hub -}}{{- end -}}
{{- if ne .Values.secrets.api "leakscape-api" -}}{{- $_ := set $secrets "api_secret" .Values.secrets.api -}}{{- end -}}
{{ merge (dict) .Values.parameters $secrets | toYaml }}
{{- end }}

{{/* The pod that runs `leakscape register`. Takes a dict: root, config (the name of a ConfigMap), plans, options. */}}
{{- define "leakscape.register.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "leakscape.register.serviceAccount" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
restartPolicy: Never
{{- with include "leakscape.pullSecrets" $root }}
{{- . | nindent 0 }}
{{- end }}
{{- with include "leakscape.priorityClass" $root }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- include "leakscape.security.pod" $root | nindent 2 }}
{{- with $root.Values.register.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.register.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: register
    image: {{ include "leakscape.image" (list $root "cli") | quote }}
    imagePullPolicy: {{ $root.Values.images.pullPolicy }}
    args: {{ concat (list "register" "/etc/leakscape/registrations.yaml") (default list .options) | toJson }}
    env:
      - {name: HOME, value: /tmp}
    resources:
      {{- toYaml $root.Values.register.resources | nindent 6 }}
    securityContext:
      {{- include "leakscape.security.container" $root | nindent 6 }}
    volumeMounts:
      - {name: registrations, mountPath: /etc/leakscape, readOnly: true}
      - {name: tmp, mountPath: /tmp}
      {{- if ne $root.Values.kubeflow.auth.mode "none" }}
      - {name: token, mountPath: /var/run/secrets/leakscape, readOnly: true}
      {{- end }}
      {{- if $root.Values.kubeflow.ca.configMap }}
      - {name: ca, mountPath: /etc/leakscape-ca, readOnly: true}
      {{- end }}
volumes:
  - name: registrations
    configMap:
      name: {{ .config }}
      items:
        - {key: registrations.yaml, path: registrations.yaml}
        {{- range $name, $_ := .plans }}
        - {key: plan-{{ $name }}.yaml, path: plans/{{ $name }}.yaml}
        {{- end }}
  - name: tmp
    emptyDir:
      sizeLimit: 256Mi
  {{- with $root.Values.kubeflow.auth }}
  {{- if eq .mode "serviceAccountToken" }}
  - name: token
    projected:
      sources:
        - serviceAccountToken:
            audience: {{ .audience }}
            expirationSeconds: {{ .expirationSeconds | int64 }}
            path: token
  {{- else if eq .mode "secret" }}
  - name: token
    secret:
      secretName: {{ .existingSecret }}
      items:
        - {key: {{ .key }}, path: {{ .key }}}
  {{- end }}
  {{- end }}
  {{- with $root.Values.kubeflow.ca }}
  {{- if .configMap }}
  - name: ca
    configMap:
      name: {{ .configMap }}
      items:
        - {key: {{ .key }}, path: {{ .key }}}
  {{- end }}
  {{- end }}
{{- end }}

{{/* A job that runs it. Takes the same dict. A wrong setting (exit 2) ends it; a busy API (exit 75) is tried again. */}}
{{- define "leakscape.register.job" -}}
{{- $root := .root -}}
backoffLimit: {{ $root.Values.register.backoffLimit }}
activeDeadlineSeconds: {{ $root.Values.register.activeDeadlineSeconds }}
ttlSecondsAfterFinished: {{ $root.Values.register.ttlSecondsAfterFinished }}
podFailurePolicy:
  rules:
    - action: FailJob
      onExitCodes:
        containerName: register
        operator: In
        values: [2]
      onPodConditions: []
template:
  metadata:
    labels:
      {{- include "leakscape.podLabels" (list $root "register") | nindent 6 }}
    {{- with $root.Values.register.podAnnotations }}
    annotations:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  spec:
    {{- include "leakscape.register.pod" . | nindent 4 }}
{{- end }}
