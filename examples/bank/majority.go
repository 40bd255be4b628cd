package main

import "github.com/ringleader-dev/ringleader/fence/kv"

// majority asks all replicas at once, and returns the answers of the first majority: any two have a replica
// in common. The error is that of a replica without which there is none.
func majority[T any](replicas []kv.Client, ask func(kv.Client) (T, error)) (answers []T, err error) {
	type result struct {
		answer T
		err    error
	}
	results := make(chan result, len(replicas))
	for _, r := range replicas {
		go func() {
			answer, err := ask(r)
			results <- result{answer, err}
		}()
	}
	for range replicas {
		r := <-results
		if r.err != nil {
			err = r.err
			continue
		}
		if answers = append(answers, r.answer); len(answers) > len(replicas)/2 {
			return answers, nil
		}
	}
	return nil, err
}
