// An engine behind Assay's C interface, in Go: sorted rows in memory, saved to one file.
//
//	go build -buildmode=c-shared -o libsorted-go.so examples/own-engine/sorted.go
//
// The types repeat the types of assay_engine.h. The header itself cannot be included: its functions are
// declared with const, and cgo's own declarations have no const.
package main

/*
#include <stdint.h>
#include <stdlib.h>

typedef struct { char text[1024]; char option[128]; } assay_error;
typedef struct { const char *name; const char *value; } assay_option;
typedef struct { const char *dir; const assay_option *options; size_t option_count; } assay_open_spec;
typedef void (*assay_row)(void *, const void *, size_t, const void *, size_t);
typedef void (*assay_text)(void *, const char *, const char *);
typedef void (*assay_count)(void *, const char *, double);

static inline void give_row(assay_row row, void *rows, const void *key, size_t key_bytes,
                            const void *value, size_t value_bytes) {
    row(rows, key, key_bytes, value, value_bytes);
}
static inline void give_text(assay_text report, void *to, const char *name, const char *text) {
    report(to, name, text);
}
static inline void give_count(assay_count count, void *to, const char *name, double value) {
    count(to, name, value);
}
*/
import "C"

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"
)

// Result codes of assay_engine.h.
const (
	done      = 0
	notFound  = 1
	badOption = 5
	fatal     = 6
)

// Kinds of work of assay_maintain.
const flush = 0

// Row is one row; its fields are exported so that gob can save them.
type Row struct{ Key, Value []byte }

// The open engine: the interface opens one engine at a time.
var (
	lock sync.RWMutex
	rows []Row
	path string
)

// seek returns the position of the first row not below key, and whether this row has that key.
func seek(key []byte) (int, bool) {
	return slices.BinarySearchFunc(rows, key, func(row Row, key []byte) int {
		return bytes.Compare(row.Key, key)
	})
}

func load() error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	return gob.NewDecoder(file).Decode(&rows)
}

func save() error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := gob.NewEncoder(file).Encode(rows); err != nil {
		return err
	}
	return file.Sync()
}

// fill writes text and a zero byte into a field of an error.
func fill(field []C.char, text string) {
	length := min(len(text), len(field)-1)
	for i := range length {
		field[i] = C.char(text[i])
	}
	field[length] = 0
}

func result(err error, failure *C.assay_error) C.int {
	if err == nil {
		return done
	}
	fill(failure.text[:], "sorted-go: "+err.Error())
	return fatal
}

// view returns the bytes at start without a copy; copied returns a copy.
func view(start unsafe.Pointer, count C.size_t) []byte {
	return unsafe.Slice((*byte)(start), int(count))
}

func copied(start unsafe.Pointer, count C.size_t) []byte { return bytes.Clone(view(start, count)) }

func give(take C.assay_row, to unsafe.Pointer, row *Row) {
	key, value := unsafe.Pointer(unsafe.SliceData(row.Key)), unsafe.Pointer(unsafe.SliceData(row.Value))
	C.give_row(take, to, key, C.size_t(len(row.Key)), value, C.size_t(len(row.Value)))
}

func report(take C.assay_text, to unsafe.Pointer, name, text string) {
	cName, cText := C.CString(name), C.CString(text)
	defer C.free(unsafe.Pointer(cName))
	defer C.free(unsafe.Pointer(cText))
	C.give_text(take, to, cName, cText)
}

//export assay_abi
func assay_abi() C.uint32_t { return 1 }

//export assay_identity
func assay_identity(take C.assay_text, to unsafe.Pointer) { report(take, to, "version", "0.1") }

//export assay_open
func assay_open(spec *C.assay_open_spec, engine *unsafe.Pointer, failure *C.assay_error) C.int {
	if spec.option_count > 0 {
		fill(failure.text[:], "sorted-go: it has no options")
		fill(failure.option[:], C.GoString(spec.options.name))
		return badOption
	}
	rows, path = nil, filepath.Join(C.GoString(spec.dir), "rows")
	*engine = C.malloc(1)
	return result(load(), failure)
}

//export assay_options
func assay_options(engine unsafe.Pointer, take C.assay_text, to unsafe.Pointer) {}

//export assay_session_begin
func assay_session_begin(engine unsafe.Pointer, session *unsafe.Pointer, failure *C.assay_error) C.int {
	*session = engine
	return done
}

//export assay_session_end
func assay_session_end(session unsafe.Pointer) {}

//export assay_get
func assay_get(session, key unsafe.Pointer, keyBytes C.size_t, take C.assay_row, to unsafe.Pointer,
	failure *C.assay_error) C.int {
	lock.RLock()
	defer lock.RUnlock()
	at, found := seek(view(key, keyBytes))
	if !found {
		return notFound
	}
	give(take, to, &rows[at])
	return done
}

//export assay_put
func assay_put(session, key unsafe.Pointer, keyBytes C.size_t, value unsafe.Pointer,
	valueBytes C.size_t, failure *C.assay_error) C.int {
	row := Row{copied(key, keyBytes), copied(value, valueBytes)}
	lock.Lock()
	defer lock.Unlock()
	if at, found := seek(row.Key); found {
		rows[at] = row
	} else {
		rows = slices.Insert(rows, at, row)
	}
	return done
}

//export assay_delete
func assay_delete(session, key unsafe.Pointer, keyBytes C.size_t, failure *C.assay_error) C.int {
	lock.Lock()
	defer lock.Unlock()
	if at, found := seek(view(key, keyBytes)); found {
		rows = slices.Delete(rows, at, at+1)
	}
	return done
}

//export assay_scan
func assay_scan(session, start unsafe.Pointer, startBytes C.size_t, limit C.uint32_t,
	isReverse C.int, take C.assay_row, to unsafe.Pointer, failure *C.assay_error) C.int {
	lock.RLock()
	defer lock.RUnlock()
	at, found := seek(view(start, startBytes))
	step := 1
	if isReverse != 0 {
		step = -1
		if !found {
			at--
		}
	}
	outcome := C.int(notFound)
	for ; limit > 0 && at >= 0 && at < len(rows); at += step {
		give(take, to, &rows[at])
		outcome = done
		limit--
	}
	return outcome
}

//export assay_maintain
func assay_maintain(engine unsafe.Pointer, work C.int, isDone *C.int, failure *C.assay_error) C.int {
	*isDone = 0
	if work != flush {
		return done
	}
	*isDone = 1
	lock.RLock()
	defer lock.RUnlock()
	return result(save(), failure)
}

//export assay_state
func assay_state(engine unsafe.Pointer, count C.assay_count, to unsafe.Pointer) {
	lock.RLock()
	defer lock.RUnlock()
	name := C.CString("rows")
	defer C.free(unsafe.Pointer(name))
	C.give_count(count, to, name, C.double(len(rows)))
}

//export assay_statistics
func assay_statistics(engine unsafe.Pointer, take C.assay_text, to unsafe.Pointer) {}

//export assay_close
func assay_close(engine unsafe.Pointer, failure *C.assay_error) C.int {
	C.free(engine)
	return result(save(), failure)
}

func main() {}
