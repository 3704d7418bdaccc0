package monitortest

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// served returns the names of all metrics that a relay shows just after its start.
func served(t *testing.T) map[string]bool {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Run(ctx, serve.Options{Listener: l, DataDir: t.TempDir(), Version: "v1"}) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	cancel()
	if ended := <-ended; err != nil || ended != nil {
		t.Fatal(err, ended)
	}
	names := map[string]bool{"up": true} // Prometheus' own
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(string(page), -1) {
		names[m[1]] = true
	}
	return names
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// tableAlerts checks the table of metrics in the operator's manual and returns its
// alerts: expressions by name.
func tableAlerts(t *testing.T, known map[string]bool) map[string]string {
	t.Helper()
	alerts, rows := make(map[string]string), make(map[string]bool)
	row := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|[^|]*\\|[^|]*\\| (?:(\\w+): `(.+)`|-) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(readFile(t, "docs/operations.md")), -1) {
		rows[m[1]] = true
		if m[2] != "" {
			alerts[m[2]] = strings.ReplaceAll(m[3], `\|`, "|")
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "scorel_relay_") && !rows[name] {
			t.Errorf("docs/operations.md has no row for %s", name)
		}
	}
	for name := range rows {
		if !known[name] {
			t.Errorf("docs/operations.md has a row for %s, which no relay shows", name)
		}
	}
	return alerts
}

func TestAlertsAndTheirTable(t *testing.T) {
	known := served(t)
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				For         string            `yaml:"for"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(readFile(t, "deploy/alerts.yml"))))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	alerts := make(map[string]string)
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			alerts[rule.Alert] = rule.Expr
			checkExpr(t, rule.Alert, rule.Expr, known)
			if rule.For != "" {
				if _, err := time.ParseDuration(rule.For); err != nil {
					t.Errorf("%s: %v", rule.Alert, err)
				}
			}
			if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || !strings.HasSuffix(rule.Annotations["summary"], ".") {
				t.Errorf("%s: severity %q, summary %q", rule.Alert, rule.Labels["severity"], rule.Annotations["summary"])
			}
		}
	}
	told := tableAlerts(t, known)
	if len(alerts) < 20 || !maps.Equal(alerts, told) {
		t.Errorf("deploy/alerts.yml has\n%v\nand docs/operations.md\n%v", alerts, told)
	}
}

func TestDashboardShowsWhatThereIs(t *testing.T) {
	known := served(t)
	type panel struct {
		ID      int            `json:"id"`
		Type    string         `json:"type"`
		Title   string         `json:"title"`
		GridPos map[string]int `json:"gridPos"`
		Targets []struct {
			Expr string `json:"expr"`
		} `json:"targets"`
	}
	var board struct {
		Title         string  `json:"title"`
		UID           string  `json:"uid"`
		SchemaVersion int     `json:"schemaVersion"`
		Panels        []panel `json:"panels"`
	}
	if err := json.Unmarshal(readFile(t, "deploy/grafana-dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.UID == "" || board.SchemaVersion == 0 || len(board.Panels) < 10 {
		t.Fatalf("no dashboard: %+v", board)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	ids, shown := make(map[int]bool), ""
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos["w"] < 1 || p.GridPos["x"]+p.GridPos["w"] > 24 || (p.Type != "row") != (len(p.Targets) > 0) {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			checkExpr(t, p.Title, variables.Replace(target.Expr), known)
			shown += target.Expr + "\n"
		}
	}
	for name := range known {
		if strings.HasPrefix(name, "scorel_relay_") && !regexp.MustCompile(`\b`+name+`\b`).MatchString(shown) {
			t.Errorf("no panel shows %s", name)
		}
	}
}
