/** TCP sockets within the policy, to real servers, some of them hostile. */
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer, type Server, type Socket } from "node:net"
import { createServer as createTlsServer, TLSSocket } from "node:tls"
import { assert, describe, it } from "@effect/vitest"
import { Egress, type EgressSocket, type SocketRequest, type TlsOptions } from "@weft/core/adapter"
import { egress } from "@weft/egress"
import { Effect, Fiber, Scope } from "effect"
import { nameServer } from "./NameServer.ts"
import { envOf } from "./Servers.ts"

const allow = ["127.0.0.1"]
const loopback = egress({ policy: { allow } })

const read = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), "utf8")

const listen = (make: () => Server, host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = make()
      const sockets = new Set<Socket>()
      server.on("connection", (socket) => {
        sockets.add(socket)
        socket.on("error", () => undefined)
      })
      await once(server.listen(0, host), "listening")
      const address = server.address()
      return { server, sockets, port: typeof address === "object" && address !== null ? address.port : 0 }
    }),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        await new Promise((resolve) => server.close(resolve))
      })
  )

const serve = (onSocket: (socket: Socket) => void, host = "127.0.0.1") =>
  listen(() => createServer({ allowHalfOpen: true }, onSocket), host)

const open = (port: number, request: Partial<SocketRequest> = {}, env = 1) =>
  Effect.flatMap(Egress, (service) =>
    service.openSocket(envOf(env), { host: "127.0.0.1", port, tls: null, ...request })
  )

const refusal = (port: number, request: Partial<SocketRequest> = {}) =>
  Effect.map(Effect.flip(Effect.scoped(open(port, request))), (error) => [error._tag, error.message])

const bytes = (text: string) => new TextEncoder().encode(text)

/** Reads until `length` bytes, or the end. */
const readText = Effect.fnUntraced(function* (socket: EgressSocket, length = Number.POSITIVE_INFINITY) {
  let text = ""
  while (text.length < length) {
    const { bytes: taken, done } = yield* socket.read(1000)
    text += Buffer.from(taken).toString()
    if (done) break
  }
  return text
})

const identity = { cert: read("secure.test.pem"), key: read("secure.test.key.pem") }

const tls: TlsOptions = { serverName: null, verify: true, authorities: [], alpn: [] }

describe("a TCP socket", () => {
  it.live("exchanges bytes, and ends each direction on its own", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => {
        socket.write("hello ")
        let text = ""
        socket.on("data", (chunk) => {
          text += chunk.toString()
        })
        socket.on("end", () => socket.end(text.toUpperCase()))
      })
      const socket = yield* open(port)
      assert.isNull(socket.tls)
      assert.strictEqual(yield* readText(socket, 6), "hello ")
      yield* socket.write(bytes("wor"))
      yield* socket.write(bytes("ld"))
      yield* socket.finish
      assert.strictEqual(yield* readText(socket), "WORLD")
      assert.deepStrictEqual(yield* socket.read(10), { bytes: new Uint8Array(), done: true })
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("returns at most the requested bytes, and fails when the connection is lost", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => {
        socket.write("abcdef")
        socket.once("data", () => socket.resetAndDestroy())
      })
      const socket = yield* open(port)
      const pieces = [yield* socket.read(4), yield* socket.read(4)].map(({ bytes: taken }) =>
        Buffer.from(taken).toString()
      )
      assert.deepStrictEqual(pieces, ["abcd", "ef"])
      yield* socket.write(bytes("x"))
      const lost = yield* Effect.flip(socket.read(4))
      assert.strictEqual(lost.message, "the connection was closed before the end")
      assert.strictEqual((yield* Effect.flip(socket.write(bytes("y")))).message, lost.message)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("closes with its scope, also after a read was given up, and with TLS", () =>
    Effect.gen(function* () {
      for (const isSecure of [false, true]) {
        const closed = Promise.withResolvers<void>()
        const onSocket = (socket: Socket): void => {
          socket.resume()
          socket.on("error", () => undefined)
          socket.on("close", () => closed.resolve())
        }
        const { port } = yield* listen(() => (isSecure ? createTlsServer(identity, onSocket) : createServer(onSocket)))
        const scope = yield* Scope.make()
        const socket = yield* Scope.provide(open(port, { tls: isSecure ? { ...tls, verify: false } : null }), scope)
        const reading = yield* Effect.forkChild(socket.read(1))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(reading)
        yield* Scope.close(scope, Effect.runSync(Effect.exit(Effect.void)))
        yield* Effect.promise(() => closed.promise)
      }
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("stops a server that sends faster than the guest reads", () =>
    Effect.gen(function* () {
      let sent = 0
      const { port } = yield* serve((socket) => {
        const chunk = Buffer.alloc(64 * 1024)
        const next = (): void => {
          if (sent === 1000 || socket.destroyed) return
          sent++
          if (socket.write(chunk)) setImmediate(next)
          else socket.once("drain", next)
        }
        next()
      })
      yield* open(port)
      let before = -1
      while (before !== sent) {
        before = sent
        yield* Effect.sleep("150 millis")
      }
      // The buffers of the operating system hold a few megabytes.
      assert.isBelow(sent, 500)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("waits until a slow server has accepted the bytes", () =>
    Effect.gen(function* () {
      let peer: Socket | undefined
      const { port } = yield* serve((socket) => {
        peer = socket.pause()
      })
      const socket = yield* open(port)
      let written = 0
      const writing = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 400 }),
          () => Effect.tap(socket.write(new Uint8Array(64 * 1024)), () => Effect.sync(() => written++)),
          { discard: true }
        )
      )
      let before = -1
      while (before !== written) {
        before = written
        yield* Effect.sleep("150 millis")
      }
      assert.isBelow(written, 400)
      peer?.resume()
      yield* Fiber.join(writing)
      assert.strictEqual(written, 400)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

describe("the destination of a TCP socket", () => {
  it.live("must have an allowed host, port and address", () =>
    Effect.gen(function* () {
      const refused = (reason: string) => ["EgressRefused", reason]
      const loop = refused("127.0.0.1 is a loopback address, which is not allowed here")
      assert.deepStrictEqual(yield* refusal(5432), loop)
      for (const host of ["2130706433", "0x7f.1", "127.1", "0177.0.0.1"]) {
        assert.deepStrictEqual(yield* refusal(5432, { host }), loop, host)
      }
      for (const host of ["::1", "[::1]"]) {
        assert.deepStrictEqual(
          yield* refusal(5432, { host }),
          refused("[::1] is a loopback address, which is not allowed here"),
          host
        )
      }
      assert.deepStrictEqual(
        yield* refusal(5432, { host: "::ffff:10.0.0.1" }),
        refused("[::ffff:a00:1] is a private address, which is not allowed here")
      )
      assert.deepStrictEqual(
        yield* refusal(80, { host: "169.254.169.254" }),
        refused("169.254.169.254 is a metadata address, which is not allowed here")
      )
      assert.deepStrictEqual(
        yield* refusal(5432, { host: "db.localhost" }),
        refused("db.localhost has a loopback address, which is not allowed here")
      )
      assert.deepStrictEqual(yield* refusal(25, { host: "mail.example.com" }), refused("port 25 is not allowed here"))
      for (const host of ["", "a b", "a/b", "user@host", "host:80", "a\r\nb", "a%00b", "[::1", "a?b", "a#b"]) {
        assert.deepStrictEqual(yield* refusal(5432, { host }), refused("the host is not a name or an address"), host)
      }
    }).pipe(Effect.provide(egress()))
  )

  it.live("is limited to the ports and hosts of the policy", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => socket.end("ok"))
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* readText(yield* open(port)), "ok")
        assert.deepStrictEqual(yield* refusal(1), ["EgressRefused", "port 1 is not allowed here"])
        assert.deepStrictEqual(yield* refusal(443, { host: "blocked.example" }), [
          "EgressRefused",
          "blocked.example is not allowed here"
        ])
      }).pipe(
        Effect.scoped,
        Effect.provide(egress({ policy: { allow: [`127.0.0.1:${port}`], deny: ["*.example"], ports: [443] } }))
      )
    }).pipe(Effect.scoped)
  )

  it.live("is resolved once, and connected to a checked address only", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => socket.end("outer"), "127.0.0.2")
      let answers = 0
      const dns = yield* nameServer((_, type) =>
        type === "AAAA" ? [] : [answers++ % 2 === 0 ? "127.0.0.2" : "127.0.0.1"]
      )
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* readText(yield* open(port, { host: "rebind.test" })), "outer")
        assert.deepStrictEqual(yield* refusal(port, { host: "rebind.test" }), [
          "EgressRefused",
          "rebind.test has a loopback address, which is not allowed here"
        ])
      }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
      assert.strictEqual(dns.questions.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("reveals nothing of this machine when it cannot be reached", () =>
    Effect.gen(function* () {
      const { server, port } = yield* serve(() => undefined)
      yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      assert.deepStrictEqual(yield* refusal(port), ["EgressFailed", "the connection was refused"])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("counts towards the limits, and is closed after idle time", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => socket.resume())
      const scope = yield* Scope.make()
      const first = yield* Scope.provide(open(port), scope)
      assert.deepStrictEqual(yield* refusal(port), ["EgressFailed", "the environment has 1 open sockets, its maximum"])
      assert.strictEqual((yield* Effect.flip(first.read(1))).message, "the socket was idle for 100 ms")
      yield* Scope.close(scope, Effect.runSync(Effect.exit(Effect.void)))
      yield* open(port)
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, socketsPerEnv: 1, socketIdleMs: 100 } })))
  )
})

describe("TLS on a TCP socket", () => {
  const trusted = { ...tls, authorities: [identity.cert], serverName: "secure.test" }

  it.live("checks the certificate and its name, and negotiates a protocol", () =>
    Effect.gen(function* () {
      const { port } = yield* listen(() =>
        createTlsServer({ ...identity, ALPNProtocols: ["postgresql"] }, (socket) => socket.end("secret"))
      )
      const socket = yield* open(port, { tls: { ...trusted, alpn: ["other", "postgresql"] } })
      assert.deepStrictEqual(socket.tls, { alpn: "postgresql" })
      assert.strictEqual(yield* readText(socket), "secret")
      const untrusted = ["EgressFailed", "the TLS handshake failed: certificate or protocol"]
      assert.deepStrictEqual(yield* refusal(port, { tls }), untrusted)
      assert.deepStrictEqual(yield* refusal(port, { tls: { ...trusted, serverName: "other.test" } }), untrusted)
      assert.strictEqual(yield* readText(yield* open(port, { tls: { ...tls, verify: false } })), "secret")
      assert.deepStrictEqual(yield* refusal(port, { tls: { ...tls, authorities: ["no certificate"] } }), untrusted)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("starts after a conversation in plain text", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => {
        socket.once("data", (chunk) => {
          socket.write(`ready for ${chunk.toString()}`)
          const secure = new TLSSocket(socket, { isServer: true, ...identity })
          secure.on("error", () => undefined)
          secure.on("data", (secret) => secure.end(`got ${secret.toString()}`))
        })
      })
      const socket = yield* open(port)
      yield* socket.write(bytes("TLS"))
      assert.strictEqual(yield* readText(socket, 13), "ready for TLS")
      // A client that reads all the time has a read in progress, which ends without bytes.
      const reading = yield* Effect.forkChild(socket.read(100))
      yield* Effect.yieldNow
      assert.deepStrictEqual(yield* socket.startTls(trusted), { alpn: null })
      assert.deepStrictEqual(yield* Fiber.join(reading), { bytes: new Uint8Array(), done: false })
      yield* socket.write(bytes("password"))
      assert.strictEqual(yield* readText(socket), "got password")
      assert.strictEqual((yield* Effect.flip(socket.startTls(trusted))).message, "the socket uses TLS already")
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("does not start if the server sent bytes that would be taken for encrypted ones", () =>
    Effect.gen(function* () {
      const { port } = yield* serve((socket) => {
        socket.once("data", () => socket.write("S and injected bytes"))
      })
      const socket = yield* open(port)
      yield* socket.write(bytes("TLS?"))
      const { bytes: first } = yield* socket.read(1)
      assert.strictEqual(Buffer.from(first).toString(), "S")
      const failure = yield* Effect.flip(socket.startTls(trusted))
      assert.match(failure.message, /^the socket has bytes that were not read or written/)
      assert.isTrue((yield* Effect.exit(socket.write(bytes("password"))))._tag === "Failure")
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})
