package kubernetes

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var update = flag.Bool("update", false, "write the plain manifests")

// least are the values that the chart requires.
const least = "{publicURLs: [https://relay.example], store: {secret: db}}"

func mustRender(t *testing.T, values string) objects {
	t.Helper()
	files, err := render(t, values)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, files)
}

func TestPlainManifestsAreRenderedFromTheChart(t *testing.T) {
	files, err := render(t, string(readFile(t, path("kubernetes", "values.yaml"))))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{
		"relay.yaml":          plain(files, "service.yaml", "deployment.yaml", "scaling.yaml", "network.yaml"),
		"servicemonitor.yaml": plain(files, "servicemonitor.yaml"),
	} {
		file := path("kubernetes", name)
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(readFile(t, file), want) {
			t.Errorf("deploy/kubernetes/%s is not what the chart renders: run go test ./kubernetes -update", name)
		}
		decode(t, map[string]string{name: string(want)})
	}
}

// TestEverythingFitsTogether checks the names by which objects refer to each other.
func TestEverythingFitsTogether(t *testing.T) {
	o := mustRender(t, string(readFile(t, path("kubernetes", "values.yaml"))))
	pod := o.deployment.Spec.Template
	container := pod.Spec.Containers[0]
	ports := map[string]bool{}
	for _, p := range container.Ports {
		ports[p.Name] = true
	}
	selects := map[string]map[string]string{
		"deployment": o.deployment.Spec.Selector.MatchLabels, "budget": o.budget.Spec.Selector.MatchLabels,
		"network": o.network.Spec.PodSelector.MatchLabels,
	}
	for _, service := range o.services {
		selects[service.Name] = service.Spec.Selector
		if target := service.Spec.Ports[0].TargetPort; !ports[target.StrVal] {
			t.Errorf("service %s has the target %s, which the pod lacks", service.Name, target.String())
		}
	}
	for name, selector := range selects {
		if len(selector) == 0 || !contains(pod.Labels, selector) {
			t.Errorf("%s selects %v, the pod has %v", name, selector, pod.Labels)
		}
	}
	if len(o.services) != 2 || !contains(o.services[1].Labels, o.monitor.Spec.Selector.MatchLabels) || contains(o.services[0].Labels, o.monitor.Spec.Selector.MatchLabels) {
		t.Errorf("the monitor selects %v", o.monitor.Spec.Selector.MatchLabels)
	}
	if endpoint := o.monitor.Spec.Endpoints[0]; endpoint.Port != o.services[1].Spec.Ports[0].Name || *endpoint.RelabelConfigs[0].Replacement != "scorel-relay" {
		t.Errorf("the monitor reads %+v", endpoint)
	}
	if target := o.scaler.Spec.ScaleTargetRef; target.Kind != "Deployment" || target.Name != o.deployment.Name || o.deployment.Spec.Replicas != nil {
		t.Errorf("the scaler scales %+v, and replicas is %v", target, o.deployment.Spec.Replicas)
	}
	if backend := o.ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service; backend.Name != o.services[0].Name || backend.Port.Name != o.services[0].Spec.Ports[0].Name {
		t.Errorf("the ingress leads to %+v", backend)
	}
	if o.account.Name != pod.Spec.ServiceAccountName || o.ingress.Spec.Rules[0].Host != "relay.example" || o.ingress.Spec.TLS[0].Hosts[0] != "relay.example" {
		t.Errorf("account %s and %s, rules %+v", o.account.Name, pod.Spec.ServiceAccountName, o.ingress.Spec)
	}
	for _, rule := range o.network.Spec.Ingress {
		if !ports[rule.Ports[0].Port.StrVal] {
			t.Errorf("the network policy names the port %v", rule.Ports[0].Port)
		}
	}
}

func contains(all, some map[string]string) bool {
	for key, value := range some {
		if all[key] != value {
			return false
		}
	}
	return len(some) > 0
}

var flagName = regexp.MustCompile(`^--[a-z-]+`)

// TestTheRelayIsStartedAsDocumented: the flags exist, the probes name a host that the relay serves,
// the metrics and the alerts know the metric that it is scaled on, and nothing runs as root.
func TestTheRelayIsStartedAsDocumented(t *testing.T) {
	o := mustRender(t, `{publicURLs: ["https://relay.example:8443", https://other.example], store: {secret: db, key: dsn}, bus: {secret: nats},
		replicas: 3, nodes: 3, trustedProxies: [10.0.0.0/8], config: "admission = \"invite\"\n", drain: 60, autoscaling: {enabled: false}}`)
	manual := string(readFile(t, path("..", "docs", "operations.md")))
	commands := string(readFile(t, path("..", "docs", "cli.md")))
	spec := o.deployment.Spec.Template.Spec
	c := spec.Containers[0]
	for _, arg := range c.Args[2:] {
		if name := flagName.FindString(arg); name == "" || !strings.Contains(commands, " "+name+" ") {
			t.Errorf("docs/cli.md does not name %q", arg)
		}
	}
	for _, want := range []string{"--public-url=https://relay.example:8443", "--public-url=https://other.example", "--trusted-proxy=10.0.0.0/8", "--nodes=3", "--config=/etc/scorel/relay.toml", "--drain=60s"} {
		if !slices.Contains(c.Args, want) {
			t.Errorf("the relay is started with %q, without %s", c.Args, want)
		}
	}
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		get := probe.HTTPGet
		if get == nil || get.Port != intstr.FromString("relay") || len(get.HTTPHeaders) != 1 || get.HTTPHeaders[0] != (core.HTTPHeader{Name: "Host", Value: "relay.example:8443"}) {
			t.Errorf("a probe is %+v", get)
		}
	}
	if grace := *spec.TerminationGracePeriodSeconds; grace < 60+10+c.Lifecycle.PreStop.Sleep.Seconds {
		t.Errorf("a relay that drains for 60 s is killed after %d s", grace)
	}
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.ValueFrom.SecretKeyRef.Name + " " + e.ValueFrom.SecretKeyRef.Key
	}
	if !maps.Equal(env, map[string]string{"SCOREL_RELAY_STORE": "db dsn", "SCOREL_RELAY_BUS": "nats url"}) {
		t.Errorf("environment %v", env)
	}
	if o.config.Data["relay.toml"] != "admission = \"invite\"\n" || *o.deployment.Spec.Replicas != 3 || o.scaler != nil {
		t.Errorf("config %q, replicas %v", o.config.Data, o.deployment.Spec.Replicas)
	}
	scaled := mustRender(t, string(readFile(t, path("kubernetes", "values.yaml")))).scaler.Spec.Metrics[0].Pods.Metric.Name
	if !strings.Contains(manual, "| `"+scaled+"` | gauge |") {
		t.Errorf("docs/operations.md has no gauge %s", scaled)
	}
	checkSecurity(t, spec)
}

func checkSecurity(t *testing.T, spec core.PodSpec) {
	t.Helper()
	pod, c := spec.SecurityContext, spec.Containers[0].SecurityContext
	if !*pod.RunAsNonRoot || *pod.RunAsUser != 65532 || pod.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault || *spec.AutomountServiceAccountToken {
		t.Errorf("the pod's security context is %+v", pod)
	}
	if *c.AllowPrivilegeEscalation || !*c.ReadOnlyRootFilesystem || !slices.Equal(c.Capabilities.Drop, []core.Capability{"ALL"}) || len(c.Capabilities.Add) > 0 {
		t.Errorf("the container's security context is %+v", c)
	}
	mounted := map[string]bool{}
	for _, m := range spec.Containers[0].VolumeMounts {
		mounted[m.Name] = true
	}
	for _, v := range spec.Volumes {
		if !mounted[v.Name] {
			t.Errorf("the volume %s is not mounted", v.Name)
		}
		delete(mounted, v.Name)
	}
	if len(mounted) > 0 {
		t.Errorf("there are no volumes for the mounts %v", mounted)
	}
}

// TestTheLeastValues: what is off by default is absent.
func TestTheLeastValues(t *testing.T) {
	o := mustRender(t, least)
	if o.scaler != nil || o.ingress != nil || o.monitor != nil || o.config != nil || len(o.network.Spec.Egress) != 2 || *o.deployment.Spec.Replicas != 1 {
		t.Errorf("rendered %+v", o)
	}
	if len(o.deployment.Spec.Template.Spec.Containers[0].Env) != 1 {
		t.Error("a relay without a bus gets one")
	}
}

// TestEveryOption renders lists and maps that are empty by default, each at the place of its type.
func TestEveryOption(t *testing.T) {
	o := mustRender(t, `{publicURLs: [https://relay.example], store: {secret: db}, bus: {secret: nats},
		image: {repository: mirror.example/scorel, tag: v1, pullSecrets: [pull]}, extraArgs: [--admission=invite], podLabels: {a: b}, podAnnotations: {c: d},
		nodeSelector: {disk: ssd}, tolerations: [{key: relay, operator: Exists}], priorityClassName: high,
		affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: zone}}]}},
		topologySpreadConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}],
		service: {type: LoadBalancer, port: 8080, annotations: {e: f}},
		ingress: {enabled: true, className: nginx, annotations: {g: h}}, serviceMonitor: {enabled: true, labels: {release: p}},
		networkPolicy: {from: [{namespaceSelector: {matchLabels: {n: ingress}}}], metricsFrom: [{podSelector: {}}], storeTo: [{ipBlock: {cidr: 10.1.0.0/16}}], busTo: [{ipBlock: {cidr: 10.2.0.0/16}}]}}`)
	spec := o.deployment.Spec.Template.Spec
	c := spec.Containers[0]
	if c.Image != "mirror.example/scorel:v1" || spec.ImagePullSecrets[0].Name != "pull" || !slices.Contains(c.Args, "--admission=invite") {
		t.Errorf("image %s, secrets %v, arguments %q", c.Image, spec.ImagePullSecrets, c.Args)
	}
	if spec.NodeSelector["disk"] != "ssd" || spec.Tolerations[0].Key != "relay" || spec.PriorityClassName != "high" || spec.Affinity.PodAntiAffinity == nil || spec.TopologySpreadConstraints[0].MaxSkew != 2 {
		t.Errorf("placement %+v", spec)
	}
	template := o.deployment.Spec.Template
	if template.Labels["a"] != "b" || template.Annotations["c"] != "d" || o.services[0].Annotations["e"] != "f" || o.ingress.Annotations["g"] != "h" || o.monitor.Labels["release"] != "p" {
		t.Errorf("labels %v, annotations %v", template.Labels, template.Annotations)
	}
	n := o.network.Spec
	if n.Ingress[0].From[0].NamespaceSelector == nil || n.Ingress[1].From[0].PodSelector == nil || n.Egress[1].To[0].IPBlock.CIDR != "10.1.0.0/16" || n.Egress[2].To[0].IPBlock.CIDR != "10.2.0.0/16" {
		t.Errorf("network %+v", n)
	}
}

func TestBadValuesAreRefused(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                                    "publicURLs is empty",
		"{publicURLs: [https://relay.example]}": "store.secret is empty",
		"{publicURLs: [https://relay.example], store: {secret: db}, replicas: 2}":                  "needs a bus",
		"{publicURLs: [https://relay.example], store: {secret: db}, autoscaling: {enabled: true}}": "needs a bus",
		"{publicURLs: [relay.example], store: {secret: db}}":                                       "publicURLs",
		"{publicURLs: [https://relay.example], store: {secret: db}, replicsa: 2}":                  "replicsa",
		"{publicURLs: [https://relay.example], store: {secret: db}, logLevel: loud}":               "logLevel",
	} {
		if _, err := render(t, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", values, err, want)
		}
	}
}
