package rival

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/proto"
)

// The scripts of the recipe: only whoever set the key may keep or delete it.
var (
	keep = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`)
	drop = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1]) end return 0`)
)

// setNX follows "Distributed Locks with Redis" with one server.
func setNX(ctx context.Context, r Rival, leads func()) error {
	u, err := storeurl.Split(r.Store)
	if err != nil {
		return err
	}
	place, err := storeurl.Read(u, "6379", false, "db")
	switch {
	case err != nil:
		return err
	case len(place.Servers) > 1 || place.TLS != nil || place.PasswordFile != "" || place.Option("db") != "":
		return errors.New("the recipe of Redis is measured on one server without TLS, password and db")
	}
	client := redis.NewClient(&redis.Options{Addr: place.Servers[0], DisableIdentity: true})
	defer client.Close()
	key, value := place.Path, fmt.Sprintf("rival %d %v", r.ID, proto.NewIncarnation())
	led, until := false, time.Time{}
	for ctx.Err() == nil {
		asked := time.Now()
		if !led {
			led, err = client.SetNX(ctx, key, value, r.TTL).Result()
			switch {
			case err != nil || !led:
				led = false
				pause(ctx, poll)
			default:
				until = asked.Add(r.TTL)
				leads()
			}
			continue
		}
		pause(ctx, r.TTL/3)
		asked = time.Now()
		kept, err := keep.Run(ctx, client, []string{key}, value, r.TTL.Milliseconds()).Int()
		switch {
		case err == nil && kept == 1:
			until = asked.Add(r.TTL)
		case err == nil || time.Now().After(until):
			led = false
		}
	}
	leave, cancel := leaving(ctx)
	defer cancel()
	return drop.Run(leave, client, []string{key}, value).Err()
}
