package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"slices"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// cluster is what manifests make, by kind.
type cluster struct {
	deployment *apps.Deployment
	budget     *policy.PodDisruptionBudget
	service    *core.Service
	ingress    *networking.Ingress
	pods       []core.PodTemplateSpec
	names      map[string]bool // of config maps, secrets and accounts
}

// readManifests reads manifests of Kubernetes; a field that its types do not have is a fault.
func readManifests(files ...string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apps.AddToScheme, batch.AddToScheme, core.AddToScheme,
		networking.AddToScheme, policy.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	decode := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	all := error(nil)
	c := cluster{names: map[string]bool{}}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i, one := range bytes.Split(text, []byte("\n---\n")) {
			o, _, err := decode.Decode(one, nil, nil)
			if err != nil {
				all = errors.Join(all, findFault(name, "manifest %d: %v", i+1, err))
				continue
			}
			c.takeObject(o)
		}
	}
	if all != nil {
		return all
	}
	return c.checkAll(files[0])
}

func (c *cluster) takeObject(o runtime.Object) {
	switch o := o.(type) {
	case *apps.Deployment:
		c.deployment = o
		c.pods = append(c.pods, o.Spec.Template)
	case *batch.Job:
		c.pods = append(c.pods, o.Spec.Template)
	case *policy.PodDisruptionBudget:
		c.budget = o
	case *core.Service:
		c.service = o
	case *networking.Ingress:
		c.ingress = o
	case *core.ConfigMap:
		c.names["map "+o.Name] = true
	case *core.Secret:
		c.names["secret "+o.Name] = true
	case *core.ServiceAccount:
		c.names["account "+o.Name] = true
	}
}

// checkAll holds the manifests against each other.
func (c *cluster) checkAll(name string) error {
	if c.deployment == nil || c.budget == nil || c.service == nil || c.ingress == nil {
		return findFault(name, "a deployment, a budget, a service or an ingress is missing")
	}
	var all error
	wrong := func(is bool, format string, args ...any) {
		if is {
			all = errors.Join(all, findFault(name, format, args...))
		}
	}
	labels := c.deployment.Spec.Template.Labels
	wrong(!maps.Equal(c.deployment.Spec.Selector.MatchLabels, labels), "the deployment does not select its pods")
	wrong(!maps.Equal(c.budget.Spec.Selector.MatchLabels, labels), "the budget does not select the pods")
	wrong(!maps.Equal(c.service.Spec.Selector, labels), "the service does not select the pods")
	rolling := c.deployment.Spec.Strategy.RollingUpdate
	wrong(rolling == nil || *rolling.MaxUnavailable != intstr.FromInt32(0), "an update leaves fewer servers than before")
	wrong(c.budget.Spec.MinAvailable.IntVal >= *c.deployment.Spec.Replicas, "the budget lets no server be moved")
	backend := c.ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service
	wrong(backend.Name != c.service.Name || backend.Port.Name != c.service.Spec.Ports[0].Name,
		"the ingress leads to no service")
	container := c.deployment.Spec.Template.Spec.Containers[0]
	wrong(!slices.ContainsFunc(container.Ports, func(p core.ContainerPort) bool {
		return p.Name == c.service.Spec.Ports[0].TargetPort.StrVal && p.ContainerPort == 7077
	}), "the service leads to no port")
	for _, p := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
		wrong(p == nil || p.HTTPGet.Port.StrVal != container.Ports[0].Name, "a probe asks no port")
	}
	wrong(container.ReadinessProbe.HTTPGet.Path != "/readyz" || container.LivenessProbe.HTTPGet.Path != "/livez",
		"a probe asks for something else")
	for _, p := range c.pods {
		all = errors.Join(all, c.checkRestricted(name, p.Spec))
	}
	return all
}

// checkRestricted returns what a pod may do that the standard "restricted" forbids, which the
// namespace enforces, and what it names that is not there.
func (c *cluster) checkRestricted(name string, p core.PodSpec) error {
	var all error
	if s := p.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil {
		all = errors.Join(all, findFault(name, "a pod may be root, or make any call of the system"))
	}
	if !c.names["account "+p.ServiceAccountName] {
		all = errors.Join(all, findFault(name, "there is no account %q", p.ServiceAccountName))
	}
	volumes := map[string]bool{}
	for _, v := range p.Volumes {
		volumes[v.Name] = true
		if v.ConfigMap != nil && !c.names["map "+v.ConfigMap.Name] {
			all = errors.Join(all, findFault(name, "there is no config map %q", v.ConfigMap.Name))
		}
	}
	for _, k := range p.Containers {
		s := k.SecurityContext
		if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
			!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			all = errors.Join(all, findFault(name, "%s may do more than it has to", k.Name))
		}
		for _, m := range k.VolumeMounts {
			if !volumes[m.Name] {
				all = errors.Join(all, findFault(name, "there is no volume %q", m.Name))
			}
		}
		for _, e := range k.EnvFrom {
			if !c.names["secret "+e.SecretRef.Name] {
				all = errors.Join(all, findFault(name, "there is no secret %q", e.SecretRef.Name))
			}
		}
	}
	return all
}
