{{/* Rules of network policies: each gives one or more entries of `egress`, or nothing. */}}

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

{{/* Addresses and the pods of a namespace. Takes a dict: root, cidrs, namespace, ports. */}}
{{- define "leakscape.network.to" -}}
{{- $except := .root.Values.networkPolicy.except -}}
{{- if or .cidrs .namespace -}}
- to:
    {{- with .namespace }}
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ . }}
    {{- end }}
    {{- range $cidr := .cidrs }}
    - ipBlock:
        cidr: {{ $cidr | quote }}
        {{- if and $except (eq $cidr "0.0.0.0/0") }}
        except:
          {{- toYaml $except | nindent 10 }}
        {{- end }}
    {{- end }}
  ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . | int }}}
    {{- end }}
{{- end -}}
{{- end }}

{{/* The same for an entry of `networkPolicy`. Takes a list of the root context and the entry's name. */}}
{{- define "leakscape.network.entry" -}}
{{- $root := index . 0 -}}
{{- with index $root.Values.networkPolicy (index . 1) -}}
{{ include "leakscape.network.to" (dict "root" $root "cidrs" .cidrs "namespace" .namespace "ports" .ports) }}
{{- end -}}
{{- end }}

{{/* The vLLM servers of this release. */}}
{{- define "leakscape.network.vllm" -}}
- to:
    - podSelector:
        matchLabels:
          {{- include "leakscape.selectorLabels" (list . "vllm") | nindent 10 }}
  ports:
    - {protocol: TCP, port: 8000}
{{- end }}

{{/* A policy's head. Takes a dict: root, name, labels (of the pods it is for), types. */}}
{{- define "leakscape.network.policy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "leakscape.object" (list .root .name) }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "leakscape.labels" (list .root "network") | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- .labels | nindent 6 }}
  policyTypes: {{ .types | toJson }}
{{- end }}
