// SPDX-License-Identifier: Apache-2.0
// Ends in functions of Go's runtime that rules of signatures take. It uses cgo, as the handler comes in by the C library.
package main

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

type Till struct {
	prices []int
	names  map[string]int
	open   sync.Mutex
}

//go:noinline
func (t *Till) index(at int) int { return t.prices[at] }

//go:noinline
func (t *Till) count(name string) { t.names[name] = 1 }

//go:noinline
func (t *Till) divide(by int) int { return 1 / by }

//go:noinline
func (t *Till) cast(value any) *Till { return value.(*Till) }

//go:noinline
func (t *Till) close(channel chan int) { close(channel); close(channel) }

//go:noinline
func (t *Till) unlock() { t.open.Unlock() }

//go:noinline
func (t *Till) signal() { syscall.Kill(syscall.Getpid(), syscall.SIGABRT); time.Sleep(time.Minute) }

//go:noinline
func (t *Till) compare(one, other []byte) bool { return string(one) == string(other) }

//go:noinline
func (t *Till) load() int32 { return atomic.LoadInt32((*int32)(unsafe.Pointer(uintptr(16)))) }

//go:noinline
func (t *Till) copy(into []byte, from []byte) int { return copy(into, from) }

func far(count int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(uintptr(1<<20))), count)
}

func main() {
	till := &Till{prices: []int{1, 2, 3}}
	faults := []struct {
		name string
		run  func()
	}{
		{"index-out", func() { till.index(len(os.Args) * 10) }},
		{"nil-map", func() { till.count("x") }},
		{"nil-pointer", func() { var none *Till; none.index(0) }},
		{"divide-zero", func() { till.divide(len(os.Args) - 3) }},
		{"cast-bad", func() { till.cast("x") }},
		{"close-twice", func() { till.close(make(chan int)) }},
		{"unlock-twice", func() { till.unlock() }},
		{"signal-own", func() { till.signal() }},
		{"compare-bad", func() { till.compare(far(100000), make([]byte, 100000)) }},
		{"atomic-bad", func() { till.load() }},
		{"copy-bad", func() { till.copy(far(100000), make([]byte, 100000)) }},
		{"reflect-call", func() { reflect.ValueOf(till).MethodByName("None").Call(nil) }},
		{"reflect-method", func() { reflect.ValueOf(func() { panic("called") }).Call(nil) }},
		{"once-panic", func() { var once sync.Once; once.Do(func() { panic("once") }) }},
		{"stack-end", func() { var again func(int) int; again = func(n int) int { return again(n+1) + 1 }; again(0) }},
		{"dead-lock", func() { var group sync.WaitGroup; group.Add(1); group.Wait() }},
		{"panic-other", func() { done := make(chan int); go func() { panic("other") }(); <-done }},
	}
	for _, fault := range faults {
		if fault.name == os.Args[1] {
			fault.run()
		}
	}
	if os.Args[1] == "main-itself" {
		fmt.Println(till.prices[len(os.Args)*10])
	}
	C.free(nil)
}
