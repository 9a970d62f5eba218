{{/* Rules of network policies. */}}

{{- define "leakscape.network.dns" -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ .Values.networkPolicy.dns.namespace }}
      podSelector:
        matchLabels:
          {{- toYaml .Values.networkPolicy.dns.podLabels | nindent 10 }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end }}

{{/* Address ranges without the closed ones. Takes a dict: root, cidrs, ports. Nothing if there are no ranges. */}}
{{- define "leakscape.network.cidrs" -}}
{{- $root := .root -}}
{{- if .cidrs }}
- to:
    {{- range $cidr := .cidrs }}
    - ipBlock:
        cidr: {{ $cidr }}
        {{- if and (hasSuffix "/0" $cidr) (not (contains ":" $cidr)) $root.Values.networkPolicy.except }}
        except:
          {{- toYaml $root.Values.networkPolicy.except | nindent 10 }}
        {{- end }}
    {{- end }}
  ports:
    {{- include "leakscape.network.ports" .ports | nindent 4 }}
{{- end }}
{{- end }}

{{/* All pods of a namespace. Takes a dict: namespace, ports. Nothing if there is none. */}}
{{- define "leakscape.network.namespace" -}}
{{- if .namespace }}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ .namespace }}
  ports:
    {{- include "leakscape.network.ports" .ports | nindent 4 }}
{{- end }}
{{- end }}

{{- define "leakscape.network.ports" -}}
{{- range . }}
- {protocol: TCP, port: {{ . | int }}}
{{- end }}
{{- end }}

{{/* The Kubeflow API. Takes the root context. */}}
{{- define "leakscape.network.kubeflow" -}}
{{- with .Values.networkPolicy.kubeflow }}
{{- include "leakscape.network.namespace" (dict "namespace" .namespace "ports" .ports) }}
{{- include "leakscape.network.cidrs" (dict "root" $ "cidrs" .cidrs "ports" (append .ports 443)) }}
{{- end }}
{{- end }}

{{/* Model hubs and endpoints. Takes the root context. */}}
{{- define "leakscape.network.models" -}}
{{- with .Values.networkPolicy.models }}
{{- include "leakscape.network.namespace" (dict "namespace" .namespace "ports" .ports) }}
{{- include "leakscape.network.cidrs" (dict "root" $ "cidrs" .cidrs "ports" .ports) }}
{{- end }}
{{- end }}
