{{- define "relay.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "relay.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "relay.labels" -}}
{{ include "relay.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The host names of publicURLs, without ports. */}}
{{- define "relay.hosts" -}}
{{- range .Values.publicURLs }}{{ (urlParse .).host | splitList ":" | first }}
{{ end }}
{{- end }}

{{/* A probe without this header would be refused: the relay serves its own names only. */}}
{{- define "relay.probe" -}}
port: relay
httpHeaders:
  - name: Host
    value: {{ (urlParse (first .Values.publicURLs)).host | quote }}
{{- end }}

{{- define "relay.check" -}}
{{- if not .Values.publicURLs }}{{ fail "publicURLs is empty: list the addresses at which people reach the relay, as in https://relay.example" }}{{ end }}
{{- if not .Values.store.secret }}{{ fail "store.secret is empty: name the secret that has the URL of PostgreSQL" }}{{ end }}
{{- if and (or .Values.autoscaling.enabled (gt (int .Values.replicas) 1)) (not .Values.bus.secret) }}{{ fail "more than one relay needs a bus: name the secret that has the URL of NATS in bus.secret" }}{{ end }}
{{- end }}
