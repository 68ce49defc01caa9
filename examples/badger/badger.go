// BadgerDB behind Assay's C interface: an LSM tree of keys, and a log of values whose garbage collection reads the tree.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go build -buildmode=c-shared -o libbadger.so examples/badger/badger.go
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
	"errors"
	"expvar"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/dgraph-io/badger"
	"github.com/dgraph-io/badger/options"
)

// Result codes of assay_engine.h.
const (
	done      = 0
	notFound  = 1
	conflict  = 2
	badOption = 5
	fatal     = 6
)

// Kinds of work of assay_maintain.
const (
	flush         = 0
	compactLevel0 = 1
)

const (
	// Share of garbage at which a file of the value log is rewritten: Badger's own advice.
	discardRatio = 0.5
	// Largest number of collections of one maintenance. Each collection rewrites a file.
	collectionsMax = 1000
	// Number of workers of a full compaction.
	compactors = 2
	// Number of values that an iterator prefetches: Badger's default.
	prefetch = 100
)

// The open engine: the interface opens one engine at a time.
var (
	db     *badger.DB
	config badger.Options
)

// fill writes text and a zero byte into a field of an error.
func fill(field []C.char, text string) {
	length := min(len(text), len(field)-1)
	for i := range length {
		field[i] = C.char(text[i])
	}
	field[length] = 0
}

func result(err error, failure *C.assay_error) C.int {
	switch {
	case err == nil:
		return done
	case errors.Is(err, badger.ErrKeyNotFound):
		return notFound
	}
	fill(failure.text[:], "badger: "+err.Error())
	if errors.Is(err, badger.ErrConflict) {
		return conflict
	}
	return fatal
}

// view returns the bytes at start without a copy: Badger copies what it stores.
func view(start unsafe.Pointer, count C.size_t) []byte {
	return unsafe.Slice((*byte)(start), int(count))
}

func give(take C.assay_row, to unsafe.Pointer, item *badger.Item) error {
	return item.Value(func(value []byte) error {
		key := item.Key()
		C.give_row(take, to, unsafe.Pointer(unsafe.SliceData(key)), C.size_t(len(key)),
			unsafe.Pointer(unsafe.SliceData(value)), C.size_t(len(value)))
		return nil
	})
}

func report(take C.assay_text, to unsafe.Pointer, name, text string) {
	cName, cText := C.CString(name), C.CString(text)
	defer C.free(unsafe.Pointer(cName))
	defer C.free(unsafe.Pointer(cText))
	C.give_text(take, to, cName, cText)
}

// apply sets one option. It returns an error for an unknown option and for a wrong value.
func apply(to *badger.Options, name, value string) error {
	number := func(set func(int64)) error {
		count, err := strconv.ParseInt(value, 10, 32)
		if name == "assay.cache" || name == "value_log_file_size" {
			count, err = strconv.ParseInt(value, 10, 64)
		}
		if err == nil {
			set(count)
		}
		return err
	}
	switch name {
	case "assay.durability":
		to.SyncWrites = value == "sync"
	case "assay.cache":
		return number(func(bytes int64) { to.BlockCacheSize = bytes })
	case "assay.background_jobs":
		return number(func(count int64) { to.NumCompactors = max(int(count), compactors) })
	case "assay.compression":
		kinds := map[string]options.CompressionType{
			"none": options.None, "snappy": options.Snappy, "zstd": options.ZSTD,
		}
		kind, known := kinds[value]
		if !known {
			return errors.New("it compresses with snappy, zstd or none")
		}
		to.Compression = kind
	case "value_threshold":
		return number(func(bytes int64) { to.ValueThreshold = int(bytes) })
	case "value_log_file_size":
		return number(func(bytes int64) { to.ValueLogFileSize = bytes })
	case "max_table_size":
		return number(func(bytes int64) { to.MaxTableSize = bytes })
	default:
		return errors.New("no such option")
	}
	return nil
}

//export assay_abi
func assay_abi() C.uint32_t { return 1 }

//export assay_identity
func assay_identity(take C.assay_text, to unsafe.Pointer) {
	report(take, to, "version", "2.2007.2")
	report(take, to, "durability", "os sync")
	report(take, to, "settings", "cache compression background_jobs")
	report(take, to, "key_bytes_max", "65000")
	report(take, to, "value_bytes_max", "8388608")
}

//export assay_open
func assay_open(spec *C.assay_open_spec, engine *unsafe.Pointer, failure *C.assay_error) C.int {
	// An incomplete entry at the end of the log, after a kill, was not acknowledged.
	config = badger.DefaultOptions(C.GoString(spec.dir)).WithLogger(nil).WithTruncate(true)
	for _, option := range unsafe.Slice(spec.options, int(spec.option_count)) {
		name := C.GoString(option.name)
		if err := apply(&config, name, C.GoString(option.value)); err != nil {
			fill(failure.text[:], "badger: "+name+": "+err.Error())
			fill(failure.option[:], name)
			return badOption
		}
	}
	var err error
	if db, err = badger.Open(config); err == nil {
		*engine = C.malloc(1)
	}
	return result(err, failure)
}

//export assay_options
func assay_options(engine unsafe.Pointer, take C.assay_text, to unsafe.Pointer) {
	for name, value := range map[string]any{
		"sync_writes": config.SyncWrites, "block_cache_size": config.BlockCacheSize,
		"compression": config.Compression, "num_compactors": config.NumCompactors,
		"value_threshold": config.ValueThreshold, "max_table_size": config.MaxTableSize,
		"value_log_file_size": config.ValueLogFileSize, "num_memtables": config.NumMemtables,
	} {
		report(take, to, name, fmt.Sprint(value))
	}
}

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
	txn := db.NewTransaction(false)
	defer txn.Discard()
	item, err := txn.Get(view(key, keyBytes))
	if err == nil {
		err = give(take, to, item)
	}
	return result(err, failure)
}

//export assay_put
func assay_put(session, key unsafe.Pointer, keyBytes C.size_t, value unsafe.Pointer,
	valueBytes C.size_t, failure *C.assay_error) C.int {
	return result(db.Update(func(txn *badger.Txn) error {
		return txn.Set(view(key, keyBytes), view(value, valueBytes))
	}), failure)
}

//export assay_delete
func assay_delete(session, key unsafe.Pointer, keyBytes C.size_t, failure *C.assay_error) C.int {
	return result(db.Update(func(txn *badger.Txn) error {
		return txn.Delete(view(key, keyBytes))
	}), failure)
}

//export assay_scan
func assay_scan(session, start unsafe.Pointer, startBytes C.size_t, limit C.uint32_t,
	isReverse C.int, take C.assay_row, to unsafe.Pointer, failure *C.assay_error) C.int {
	// No key lies below an empty start key. Badger would begin a reverse scan at the last key instead.
	if startBytes == 0 && isReverse != 0 {
		return notFound
	}
	txn := db.NewTransaction(false)
	defer txn.Discard()
	rows := txn.NewIterator(badger.IteratorOptions{
		PrefetchValues: true, PrefetchSize: min(int(limit), prefetch), Reverse: isReverse != 0,
	})
	defer rows.Close()
	outcome := C.int(notFound)
	for rows.Seek(view(start, startBytes)); limit > 0 && rows.Valid(); rows.Next() {
		if err := give(take, to, rows.Item()); err != nil {
			return result(err, failure)
		}
		outcome = done
		limit--
	}
	return outcome
}

// collect rewrites files of the value log until none has enough garbage.
func collect() error {
	for range collectionsMax {
		if err := db.RunValueLogGC(discardRatio); errors.Is(err, badger.ErrNoRewrite) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

//export assay_maintain
func assay_maintain(engine unsafe.Pointer, work C.int, isDone *C.int, failure *C.assay_error) C.int {
	*isDone = 1
	switch work {
	case flush:
		return result(db.Sync(), failure)
	case compactLevel0:
		*isDone = 0
		return done
	}
	err := db.Flatten(compactors)
	if err == nil {
		err = collect()
	}
	return result(err, failure)
}

//export assay_state
func assay_state(engine unsafe.Pointer, count C.assay_count, to unsafe.Pointer) {
	expvar.Do(func(each expvar.KeyValue) {
		value, isNumber := each.Value.(*expvar.Int)
		if !isNumber || !strings.HasPrefix(each.Key, "badger_") {
			return
		}
		name := C.CString(each.Key)
		defer C.free(unsafe.Pointer(name))
		C.give_count(count, to, name, C.double(value.Value()))
	})
}

//export assay_statistics
func assay_statistics(engine unsafe.Pointer, take C.assay_text, to unsafe.Pointer) {
	if metrics := db.BlockCacheMetrics(); metrics != nil {
		report(take, to, "block cache", metrics.String())
	}
}

//export assay_close
func assay_close(engine unsafe.Pointer, failure *C.assay_error) C.int {
	C.free(engine)
	return result(db.Close(), failure)
}

func main() {}
