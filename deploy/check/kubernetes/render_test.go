package kubernetes

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func path(parts ...string) string { return filepath.Join(append([]string{"..", ".."}, parts...)...) }

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// render returns the files that the chart renders with values, by name, without those that are
// empty. Its error is what a person who installs the chart would see.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(path("helm", "scorel-relay"))
	if err != nil {
		t.Fatal(err)
	}
	if err := chart.Validate(); err != nil {
		t.Fatal(err)
	}
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "scorel-relay", Namespace: "scorel", IsInstall: true, Revision: 1}
	all, err := chartutil.ToRenderValues(chart, given, release, chartutil.DefaultCapabilities) // checks the schema
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	for name, text := range files {
		if strings.TrimSpace(text) != "" {
			out[filepath.Base(name)] = text
		}
	}
	return out, nil
}

// objects are what a chart renders, by kind.
type objects struct {
	deployment *apps.Deployment
	services   []*core.Service
	account    *core.ServiceAccount
	config     *core.ConfigMap
	scaler     *autoscaling.HorizontalPodAutoscaler
	budget     *policy.PodDisruptionBudget
	network    *networking.NetworkPolicy
	ingress    *networking.Ingress
	monitor    *monitoring.ServiceMonitor
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// documents splits YAML, and drops documents without content.
func documents(text string) (out []string) {
	for _, document := range separator.Split(text, -1) {
		if body := strings.TrimSpace(document); body != "" {
			out = append(out, body+"\n")
		}
	}
	return out
}

// decode decodes each document strictly into the type of its kind.
func decode(t *testing.T, files map[string]string) objects {
	t.Helper()
	var out objects
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == "NOTES.txt" {
			continue
		}
		for _, document := range documents(files[name]) {
			if err := out.add([]byte(document)); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
		}
	}
	return out
}

func (o *objects) add(document []byte) error {
	var of struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &of); err != nil {
		return err
	}
	switch of.APIVersion + " " + of.Kind {
	case "apps/v1 Deployment":
		return strict(document, &o.deployment)
	case "v1 Service":
		var service *core.Service
		err := strict(document, &service)
		o.services = append(o.services, service)
		return err
	case "v1 ServiceAccount":
		return strict(document, &o.account)
	case "v1 ConfigMap":
		return strict(document, &o.config)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return strict(document, &o.scaler)
	case "policy/v1 PodDisruptionBudget":
		return strict(document, &o.budget)
	case "networking.k8s.io/v1 NetworkPolicy":
		return strict(document, &o.network)
	case "networking.k8s.io/v1 Ingress":
		return strict(document, &o.ingress)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return strict(document, &o.monitor)
	}
	return fmt.Errorf("unexpected kind %+v", of)
}

func strict[T any](document []byte, into **T) error {
	if *into != nil {
		return fmt.Errorf("there are two of %T", *into)
	}
	*into = new(T)
	return yaml.UnmarshalStrict(document, *into)
}

// plain joins rendered files to a manifest, without what only Helm needs.
func plain(files map[string]string, names ...string) []byte {
	var out bytes.Buffer
	out.WriteString("# Rendered from deploy/helm/scorel-relay with values.yaml: see docs/kubernetes.md.\n")
	for i, name := range names {
		for j, document := range documents(files[name]) {
			if i+j > 0 {
				out.WriteString("---\n")
			}
			out.WriteString(strings.ReplaceAll(document, "managed-by: Helm", "managed-by: kubectl"))
		}
	}
	return out.Bytes()
}
