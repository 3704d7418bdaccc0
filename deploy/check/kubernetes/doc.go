// Package kubernetes tests the Helm chart in deploy/helm and the plain manifests in
// deploy/kubernetes, which are rendered from it. Rendered objects are decoded strictly into the
// types of Kubernetes and of the Prometheus Operator, so a misspelled or misplaced field fails.
// No cluster runs them.
//
// go test ./kubernetes -update writes the plain manifests.
package kubernetes
