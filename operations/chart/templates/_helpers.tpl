{{- define "payhook.name" -}}
{{- $name := ternary .Release.Name (printf "%s-payhook" .Release.Name) (contains "payhook" .Release.Name) -}}
{{ $name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "payhook.selector" -}}
app.kubernetes.io/name: payhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "payhook.labels" -}}
{{ include "payhook.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "payhook.secret" -}}
{{ .Values.secret.existing | default (include "payhook.name" .) }}
{{- end }}

{{- /* A pod of the command .command; .root is the context of the chart. */ -}}
{{- define "payhook.pod" -}}
{{- $root := .root -}}
metadata:
  labels:
    {{- include "payhook.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .command }}
  annotations:
    # the settings are read at the start: a change restarts the pods
    checksum/settings: {{ toJson (list $root.Values.settings $root.Values.secret) | sha256sum }}
spec:
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  automountServiceAccountToken: false
  # SHUTDOWN_DELAY_MS, up to 20 seconds to finish requests, and a margin
  terminationGracePeriodSeconds: {{ add 25 (div ($root.Values.settings.SHUTDOWN_DELAY_MS | default 5000 | int) 1000) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: {{ .command }}
      image: "{{ required "image.repository is where you pushed the image" $root.Values.image.repository }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}"
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .command }}]
      env:
        - { name: HOST, value: 0.0.0.0 }
        - { name: PORT, value: '8080' }
        - { name: DATA_DIR, value: /var/lib/payhook/data }
        {{- if $root.Values.metrics.enabled }}
        - { name: METRICS_HOST, value: 0.0.0.0 }
        - { name: METRICS_PORT, value: {{ $root.Values.metrics.port | quote }} }
        {{- end }}
        - { name: DELIVERY_WORKER, value: {{ ternary "off" "on" $root.Values.worker.enabled | quote }} }
        {{- range $name, $value := $root.Values.settings }}
        - { name: {{ $name }}, value: {{ $value | toString | quote }} }
        {{- end }}
      envFrom:
        - secretRef: { name: {{ include "payhook.secret" $root }} }
      ports:
        {{- if eq .command "serve" }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        {{- if $root.Values.metrics.enabled }}
        - { name: metrics, containerPort: {{ $root.Values.metrics.port }} }
        {{- end }}
      {{- if eq .command "serve" }}
      # a start waits for PostgreSQL and for migrations
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: 300
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 1
      {{- end }}
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: temporary, mountPath: /tmp }
        - { name: data, mountPath: /var/lib/payhook }
  volumes:
    - name: temporary
      emptyDir: { sizeLimit: {{ $root.Values.temporary.size }} }
    # the first API key of a new installation, and the files of imports
    - name: data
      emptyDir: { sizeLimit: {{ $root.Values.temporary.size }} }
  {{- with $root.Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
