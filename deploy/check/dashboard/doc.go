// Package dashboard has the tests of the dashboard in deploy: it is decoded strictly into the types
// of Grafana, so that a key that Grafana does not know is found without a Grafana. Prometheus
// itself reads the queries: see .ci/deploy.
package dashboard
