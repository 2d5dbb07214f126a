// Uses libsealstone from Go: a password, a sealed file that streams through io.Reader and
// io.Writer, and a signed package. `go run .` finds the library by pkg-config.
package main

/*
#cgo pkg-config: sealstone
#include <sealstone.h>
#include <stdint.h>
#include <stdlib.h>

// Go's functions, as C calls them. The handle names the stream.
ptrdiff_t goRead(void *context, uint8_t *bytes, size_t len);
int goWrite(void *context, uint8_t *bytes, size_t len);

static int seal(const sealstone_seal_options *options, uintptr_t from, uintptr_t to) {
    return sealstone_seal_stream(options, goRead, (void *)from,
        (sealstone_write_callback)goWrite, (void *)to);
}
static int open_(const sealstone_open_options *options, uintptr_t from, uintptr_t to) {
    return sealstone_open_stream(options, goRead, (void *)from,
        (sealstone_write_callback)goWrite, (void *)to);
}
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/cgo"
	"strings"
	"unsafe"
)

// An error's message belongs to the thread of the failed call: a goroutine stays on its thread from
// the call to the message.
func call(function func() C.int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := function(); status != C.SEALSTONE_OK {
		return fmt.Errorf("%d: %s", status, C.GoString(C.sealstone_error_message()))
	}
	return nil
}

func pointer(data []byte) *C.uint8_t {
	if len(data) == 0 {
		return nil
	}
	return (*C.uint8_t)(unsafe.Pointer(&data[0]))
}

func hashPassword(password string) (string, error) {
	data, stored := []byte(password), make([]byte, 128)
	err := call(func() C.int {
		return C.sealstone_password_hash(pointer(data), C.size_t(len(data)), 65536, 3, 4,
			(*C.char)(unsafe.Pointer(&stored[0])), C.size_t(len(stored)))
	})
	text, _, _ := strings.Cut(string(stored), "\x00")
	return text, err
}

func verifyPassword(password, stored string) error {
	data, text := []byte(password), C.CString(stored)
	defer C.free(unsafe.Pointer(text))
	return call(func() C.int {
		return C.sealstone_password_verify(
			pointer(data), C.size_t(len(data)), text, 65536, 3, 4, nil)
	})
}

// Passport is a secret identity, unlocked.
type Passport struct{ handle *C.sealstone_passport }

// PublicPassport is the half of a passport that its owner hands out.
type PublicPassport struct{ handle *C.sealstone_public_passport }

func generate(label string) (Passport, error) {
	text := C.CString(label)
	defer C.free(unsafe.Pointer(text))
	var passport Passport
	err := call(func() C.int {
		return C.sealstone_passport_generate(text, &passport.handle)
	})
	return passport, err
}

func (passport Passport) public() (PublicPassport, error) {
	var public PublicPassport
	err := call(func() C.int {
		return C.sealstone_passport_public(passport.handle, &public.handle)
	})
	return public, err
}

func (passport Passport) free()     { C.sealstone_passport_free(passport.handle) }
func (public PublicPassport) free() { C.sealstone_public_passport_free(public.handle) }

// The data of a callback. C passes a cgo.Handle to it around.
type stream struct {
	reader io.Reader
	writer io.Writer
	failed error
}

//export goRead
func goRead(context unsafe.Pointer, data *C.uint8_t, size C.size_t) C.ptrdiff_t {
	stream := cgo.Handle(uintptr(context)).Value().(*stream)
	for {
		count, err := stream.reader.Read(unsafe.Slice((*byte)(data), int(size)))
		switch {
		case count > 0 || errors.Is(err, io.EOF):
			return C.ptrdiff_t(count)
		case err != nil:
			stream.failed = err
			return -1
		}
	}
}

//export goWrite
func goWrite(context unsafe.Pointer, data *C.uint8_t, size C.size_t) C.int {
	stream := cgo.Handle(uintptr(context)).Value().(*stream)
	if _, err := stream.writer.Write(unsafe.Slice((*byte)(data), int(size))); err != nil {
		stream.failed = err
		return 1
	}
	return 0
}

func streamed(from io.Reader, to io.Writer, function func(from, to C.uintptr_t) C.int) error {
	reader, writer := &stream{reader: from}, &stream{writer: to}
	in, out := cgo.NewHandle(reader), cgo.NewHandle(writer)
	defer in.Delete()
	defer out.Delete()
	err := call(func() C.int { return function(C.uintptr_t(in), C.uintptr_t(out)) })
	for _, failed := range []error{reader.failed, writer.failed} {
		if failed != nil {
			return failed
		}
	}
	return err
}

// Options hold pointers to C's handles, and Go's memory with such pointers must not move while C
// reads it.
func seal(from io.Reader, to io.Writer, recipient PublicPassport, sender Passport) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	recipients := &[1]*C.sealstone_public_passport{recipient.handle}
	pinned.Pin(recipients)
	options := C.sealstone_seal_options{
		size: C.sizeof_sealstone_seal_options, recipients: &recipients[0], recipient_count: 1,
		sender: sender.handle,
	}
	return streamed(from, to, func(from, to C.uintptr_t) C.int { return C.seal(&options, from, to) })
}

func open(from io.Reader, to io.Writer, key Passport, sender PublicPassport) error {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	passports := &[1]*C.sealstone_passport{key.handle}
	pinned.Pin(passports)
	options := C.sealstone_open_options{
		size: C.sizeof_sealstone_open_options, passports: &passports[0], passport_count: 1,
		sender: sender.handle,
	}
	return streamed(from, to, func(from, to C.uintptr_t) C.int { return C.open_(&options, from, to) })
}

// A package over one embedded file, signed, stored, read and verified. Returns the report.
func package_(passport Passport, public PublicPassport, path string, content []byte) (string, error) {
	var pinned runtime.Pinner
	defer pinned.Unpin()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	file := &C.sealstone_file{
		path: name, content: pointer(content), content_len: C.size_t(len(content)), embed: true,
	}
	signers := &[1]*C.sealstone_public_passport{public.handle}
	pinned.Pin(&content[0])
	pinned.Pin(file)
	pinned.Pin(signers)
	choices := C.sealstone_sign_options{
		size: C.sizeof_sealstone_sign_options, files: file, file_count: 1,
	}
	checks := C.sealstone_verify_options{
		size: C.sizeof_sealstone_verify_options, signers: &signers[0], signer_count: 1,
	}
	var signed *C.sealstone_package
	var report *C.sealstone_report
	var text *C.sealstone_buffer
	err := call(func() C.int { return C.sealstone_package_sign(&choices, passport.handle, &signed) })
	defer func() { C.sealstone_package_free(signed) }()
	if err == nil {
		err = call(func() C.int { return C.sealstone_package_verify(&checks, signed, &report) })
	}
	defer func() { C.sealstone_report_free(report) }()
	if err == nil {
		err = call(func() C.int { return C.sealstone_report_json(report, &text) })
	}
	defer func() { C.sealstone_buffer_free(text) }()
	return C.GoStringN((*C.char)(unsafe.Pointer(C.sealstone_buffer_data(text))),
		C.int(C.sealstone_buffer_len(text))), err
}

func run() error {
	stored, err := hashPassword("correct horse")
	if err != nil {
		return err
	}
	fmt.Println("right password:", verifyPassword("correct horse", stored))
	fmt.Println("wrong password:", verifyPassword("wrong", stored))

	alice, err := generate("Alice")
	if err != nil {
		return err
	}
	defer alice.free()
	bob, err := generate("Bob")
	if err != nil {
		return err
	}
	defer bob.free()
	publicAlice, err := alice.public()
	if err != nil {
		return err
	}
	defer publicAlice.free()
	publicBob, err := bob.public()
	if err != nil {
		return err
	}
	defer publicBob.free()

	content := bytes.Repeat([]byte("attack at dawn\n"), 100000)
	var sealed, opened bytes.Buffer
	if err := seal(bytes.NewReader(content), &sealed, publicBob, alice); err != nil {
		return err
	}
	err = open(bytes.NewReader(sealed.Bytes()), &opened, bob, publicAlice)
	fmt.Println("opened:", err, bytes.Equal(opened.Bytes(), content))
	sealed.Bytes()[sealed.Len()/2] ^= 1
	fmt.Println("altered:", open(bytes.NewReader(sealed.Bytes()), io.Discard, bob, publicAlice))

	report, err := package_(alice, publicAlice, "plan.txt", content)
	fmt.Println("package:", err, strings.Contains(report, `"verdict":"good"`))
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
