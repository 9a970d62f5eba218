{{/* Images. */}}

{{/*
The whole reference of an image, by digest; with `dev`, by tag where no digest is given.
Takes a list of the root context and the image's short name. The schema has checked the digest.
*/}}
{{- define "leakscape.image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $image := index $root.Values.images $name -}}
{{- $path := printf "%s/%s" $root.Values.images.repository $name -}}
{{- with $root.Values.images.registry -}}{{- $path = printf "%s/%s" . $path -}}{{- end -}}
{{- if $image.digest -}}{{ printf "%s@%s" $path $image.digest }}
{{- else -}}{{ printf "%s:%s" $path (default $root.Chart.AppVersion $image.tag) }}
{{- end -}}
{{- end }}

{{/* The pull secrets of a pod or service account. */}}
{{- define "leakscape.pullSecrets" -}}
{{- with .Values.images.pullSecrets -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}
