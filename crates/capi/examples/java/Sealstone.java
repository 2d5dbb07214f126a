import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Uses libsealstone from Java 22 or later, by its Foreign Function and Memory API: a password, a
 * sealed file that streams through InputStream and OutputStream, and a signed package.
 *
 * <p>{@code java --enable-native-access=ALL-UNNAMED Sealstone.java PATH-OF-libsealstone.so}
 */
public final class Sealstone {
    private static final int OK = 0;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final StructLayout SEAL_OPTIONS = MemoryLayout.structLayout(
            JAVA_LONG.withName("size"), JAVA_INT.withName("flags"), JAVA_INT.withName("memory_kib"),
            JAVA_INT.withName("passes"), JAVA_INT.withName("lanes"), ADDRESS.withName("recipients"),
            JAVA_LONG.withName("recipient_count"), ADDRESS.withName("passphrase"),
            JAVA_LONG.withName("passphrase_len"), ADDRESS.withName("sender"));
    private static final StructLayout OPEN_OPTIONS = MemoryLayout.structLayout(
            JAVA_LONG.withName("size"), JAVA_INT.withName("flags"), MemoryLayout.paddingLayout(4),
            ADDRESS.withName("passports"), JAVA_LONG.withName("passport_count"),
            ADDRESS.withName("passphrase"), JAVA_LONG.withName("passphrase_len"),
            ADDRESS.withName("sender"));
    private static final StructLayout FILE = MemoryLayout.structLayout(
            ADDRESS.withName("path"), ADDRESS.withName("content"),
            JAVA_LONG.withName("content_len"), JAVA_BYTE.withName("embed"),
            MemoryLayout.paddingLayout(7));
    private static final StructLayout SIGN_OPTIONS = MemoryLayout.structLayout(
            JAVA_LONG.withName("size"), JAVA_INT.withName("flags"), JAVA_INT.withName("required"),
            JAVA_INT.withName("threshold"), MemoryLayout.paddingLayout(4),
            ADDRESS.withName("files"), JAVA_LONG.withName("file_count"),
            ADDRESS.withName("directory"), ADDRESS.withName("author"),
            ADDRESS.withName("metadata"), ADDRESS.withName("policy"),
            ADDRESS.withName("cosigners"), JAVA_LONG.withName("cosigner_count"),
            ADDRESS.withName("hmac_key"), JAVA_LONG.withName("hmac_key_len"),
            ADDRESS.withName("secret"), JAVA_LONG.withName("secret_len"));
    private static final StructLayout VERIFY_OPTIONS = MemoryLayout.structLayout(
            JAVA_LONG.withName("size"), JAVA_INT.withName("flags"), JAVA_INT.withName("required"),
            ADDRESS.withName("signers"), JAVA_LONG.withName("signer_count"),
            ADDRESS.withName("files"), JAVA_LONG.withName("file_count"),
            ADDRESS.withName("directory"), ADDRESS.withName("hmac_key"),
            JAVA_LONG.withName("hmac_key_len"), ADDRESS.withName("secret"),
            JAVA_LONG.withName("secret_len"), ADDRESS.withName("roots"),
            JAVA_LONG.withName("roots_len"), JAVA_LONG.withName("time"));

    private final Arena arena;
    private final SymbolLookup library;

    private Sealstone(Arena arena, String path) {
        this.arena = arena;
        // Handles are freed at the end of the arena: the library outlives it.
        this.library = SymbolLookup.libraryLookup(path, Arena.global());
    }

    /** A failure, with its code and message. */
    static final class Failure extends Exception {
        private static final long serialVersionUID = 1;
        final int code;

        Failure(int code, String message) {
            super(code + ": " + message);
            this.code = code;
        }
    }

    private MethodHandle function(String name, FunctionDescriptor type) {
        return LINKER.downcallHandle(library.find(name).orElseThrow(), type);
    }

    /**
     * Calls a function that returns a status, with these arguments. A thread's message is that of
     * its own last failure; a virtual thread does not change its carrier here, between two calls.
     */
    private void call(String name, Object... arguments) throws Throwable {
        MemoryLayout[] layouts = Arrays.stream(arguments).map(Sealstone::layout)
                .toArray(MemoryLayout[]::new);
        MethodHandle function = function(name, FunctionDescriptor.of(JAVA_INT, layouts));
        int status = (int) function.invokeWithArguments(arguments);
        if (status != OK) {
            MethodHandle message =
                    function("sealstone_error_message", FunctionDescriptor.of(ADDRESS));
            MemorySegment text = (MemorySegment) message.invokeExact();
            throw new Failure(status, text.reinterpret(Long.MAX_VALUE).getString(0));
        }
    }

    private static MemoryLayout layout(Object argument) {
        return switch (argument) {
            case Integer number -> JAVA_INT;
            case Long number -> JAVA_LONG;
            default -> ADDRESS;
        };
    }

    /** The handle that a function gives through its last argument, freed with the arena. */
    private MemorySegment given(String name, String free, Object... arguments) throws Throwable {
        MemorySegment out = arena.allocate(ADDRESS);
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = out;
        call(name, all);
        MethodHandle freeing = function(free, FunctionDescriptor.ofVoid(ADDRESS));
        return out.get(ADDRESS, 0).reinterpret(arena, handle -> {
            try {
                freeing.invokeExact(handle);
            } catch (Throwable never) {
                throw new AssertionError(never);
            }
        });
    }

    private MemorySegment bytes(byte[] content) {
        return arena.allocateFrom(JAVA_BYTE, content);
    }

    private MemorySegment text(String content) {
        return arena.allocateFrom(content);
    }

    /** An array of one handle. */
    private MemorySegment array(MemorySegment handle) {
        return arena.allocateFrom(ADDRESS, handle);
    }

    /** A structure of zeros, but for its size. */
    private MemorySegment options(StructLayout layout) {
        MemorySegment options = arena.allocate(layout);
        set(layout, options, "size", layout.byteSize());
        return options;
    }

    private static void set(StructLayout layout, MemorySegment options, String name, Object value) {
        var place = layout.varHandle(MemoryLayout.PathElement.groupElement(name));
        place.set(options, 0L, value);
    }

    String hashPassword(String password) throws Throwable {
        byte[] secret = password.getBytes(StandardCharsets.UTF_8);
        MemorySegment stored = arena.allocate(128);
        call("sealstone_password_hash", bytes(secret), (long) secret.length, 65536, 3, 4, stored,
                stored.byteSize());
        return stored.getString(0);
    }

    void verifyPassword(String password, String stored) throws Throwable {
        byte[] secret = password.getBytes(StandardCharsets.UTF_8);
        call("sealstone_password_verify", bytes(secret), (long) secret.length, text(stored), 65536,
                3, 4, MemorySegment.NULL);
    }

    MemorySegment generate(String label) throws Throwable {
        return given("sealstone_passport_generate", "sealstone_passport_free", text(label));
    }

    MemorySegment publicHalf(MemorySegment passport) throws Throwable {
        return given("sealstone_passport_public", "sealstone_public_passport_free", passport);
    }

    /** Fills memory of C from a stream: what C calls. No exception may leave it. */
    private static long read(InputStream from, IOException[] failed, MemorySegment context,
            MemorySegment memory, long length) {
        try {
            byte[] part = new byte[(int) Math.min(length, 1 << 20)];
            int count = Math.max(0, from.read(part));
            MemorySegment.copy(part, 0, memory.reinterpret(length), JAVA_BYTE, 0, count);
            return count;
        } catch (IOException failure) {
            failed[0] = failure;
            return -1;
        }
    }

    private static int write(OutputStream to, IOException[] failed, MemorySegment context,
            MemorySegment memory, long length) {
        try {
            to.write(memory.reinterpret(length).toArray(JAVA_BYTE));
            return 0;
        } catch (IOException failure) {
            failed[0] = failure;
            return 1;
        }
    }

    private void streamed(String name, MemorySegment options, InputStream from, OutputStream to)
            throws Throwable {
        IOException[] failed = new IOException[1];
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        Class<?> memory = MemorySegment.class;
        MethodHandle read = lookup.findStatic(Sealstone.class, "read", MethodType.methodType(
                long.class, InputStream.class, IOException[].class, memory, memory, long.class));
        MethodHandle write = lookup.findStatic(Sealstone.class, "write", MethodType.methodType(
                int.class, OutputStream.class, IOException[].class, memory, memory, long.class));
        MemorySegment reader = LINKER.upcallStub(MethodHandles.insertArguments(read, 0, from, failed),
                FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG), arena);
        MemorySegment writer = LINKER.upcallStub(MethodHandles.insertArguments(write, 0, to, failed),
                FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG), arena);
        try {
            call(name, options, reader, MemorySegment.NULL, writer, MemorySegment.NULL);
        } catch (Failure failure) {
            throw failed[0] == null ? failure : failed[0];
        }
    }

    void seal(InputStream from, OutputStream to, MemorySegment recipient, MemorySegment sender)
            throws Throwable {
        MemorySegment options = options(SEAL_OPTIONS);
        set(SEAL_OPTIONS, options, "recipients", array(recipient));
        set(SEAL_OPTIONS, options, "recipient_count", 1L);
        set(SEAL_OPTIONS, options, "sender", sender);
        streamed("sealstone_seal_stream", options, from, to);
    }

    void open(InputStream from, OutputStream to, MemorySegment key, MemorySegment sender)
            throws Throwable {
        MemorySegment options = options(OPEN_OPTIONS);
        set(OPEN_OPTIONS, options, "passports", array(key));
        set(OPEN_OPTIONS, options, "passport_count", 1L);
        set(OPEN_OPTIONS, options, "sender", sender);
        streamed("sealstone_open_stream", options, from, to);
    }

    MemorySegment sign(MemorySegment passport, String path, byte[] content) throws Throwable {
        MemorySegment file = arena.allocate(FILE);
        set(FILE, file, "path", text(path));
        set(FILE, file, "content", bytes(content));
        set(FILE, file, "content_len", (long) content.length);
        set(FILE, file, "embed", (byte) 1);
        MemorySegment options = options(SIGN_OPTIONS);
        set(SIGN_OPTIONS, options, "files", file);
        set(SIGN_OPTIONS, options, "file_count", 1L);
        return given("sealstone_package_sign", "sealstone_package_free", options, passport);
    }

    void verify(MemorySegment signed, MemorySegment signer) throws Throwable {
        MemorySegment options = options(VERIFY_OPTIONS);
        set(VERIFY_OPTIONS, options, "signers", array(signer));
        set(VERIFY_OPTIONS, options, "signer_count", 1L);
        call("sealstone_package_verify", options, signed, MemorySegment.NULL);
    }

    interface Attempt {
        void run() throws Throwable;
    }

    private static String outcome(Attempt attempt) throws Throwable {
        try {
            attempt.run();
            return "ok";
        } catch (Failure failure) {
            return failure.getMessage();
        }
    }

    public static void main(String[] arguments) throws Throwable {
        if (arguments.length != 1) {
            System.err.println("usage: Sealstone PATH-OF-libsealstone.so");
            System.exit(2);
        }
        try (Arena arena = Arena.ofShared()) {
            Sealstone sealstone = new Sealstone(arena, arguments[0]);
            String stored = sealstone.hashPassword("correct horse");
            System.out.println("right password: "
                    + outcome(() -> sealstone.verifyPassword("correct horse", stored)));
            System.out.println(
                    "wrong password: " + outcome(() -> sealstone.verifyPassword("wrong", stored)));

            MemorySegment alice = sealstone.generate("Alice");
            MemorySegment bob = sealstone.generate("Bob");
            MemorySegment publicAlice = sealstone.publicHalf(alice);
            MemorySegment publicBob = sealstone.publicHalf(bob);
            byte[] content = "attack at dawn\n".repeat(100000).getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream sealed = new ByteArrayOutputStream();
            ByteArrayOutputStream opened = new ByteArrayOutputStream();
            sealstone.seal(new ByteArrayInputStream(content), sealed, publicBob, alice);
            byte[] file = sealed.toByteArray();
            sealstone.open(new ByteArrayInputStream(file), opened, bob, publicAlice);
            System.out.println("opened: " + Arrays.equals(opened.toByteArray(), content));
            file[file.length / 2] ^= 1;
            System.out.println("altered: " + outcome(() -> sealstone.open(
                    new ByteArrayInputStream(file), OutputStream.nullOutputStream(), bob,
                    publicAlice)));

            MemorySegment signed = sealstone.sign(alice, "plan.txt", content);
            System.out.println("package: " + outcome(() -> sealstone.verify(signed, publicAlice)));
            System.out.println("other: " + outcome(() -> sealstone.verify(signed, publicBob)));
        }
    }
}
