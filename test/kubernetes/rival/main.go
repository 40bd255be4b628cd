// Command rival takes part in an election by package leaderelection of client-go, as controllers do, for the tests.
// It prints a line when it leads, and when it stops.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: rival SERVER TOKEN LEASE NAME")
		os.Exit(2)
	}
	server, token, lease, name := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client := kubernetes.NewForConfigOrDie(&rest.Config{
		Host: server, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: lease},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: 2 * time.Second, RenewDeadline: 1500 * time.Millisecond, RetryPeriod: 300 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leads") },
			OnStoppedLeading: func() { fmt.Println("stops") },
		},
	})
}
