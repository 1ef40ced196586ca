/** WebSockets within the policy, to real servers, some of them hostile. */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Egress, type EgressWebSocket, type WebSocketMessage } from "@weft/core/adapter"
import { egress } from "@weft/egress"
import { Effect, Fiber, Scope } from "effect"
import { type WebSocket, WebSocketServer } from "ws"
import { nameServer } from "./NameServer.ts"
import { envOf, serve } from "./Servers.ts"

const allow = ["127.0.0.1"]
const loopback = egress({ policy: { allow } })

/** Starts a server of WebSockets. */
const echoServer = (
  onSocket: (socket: WebSocket, headers: Readonly<Record<string, unknown>>) => void,
  host = "127.0.0.1"
) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = new WebSocketServer({ port: 0, host, perMessageDeflate: true })
      server.on("connection", (socket, request) => onSocket(socket, request.headers))
      await once(server, "listening")
      const address = server.address()
      return { server, port: typeof address === "object" && address !== null ? address.port : 0 }
    }),
    ({ server }) =>
      Effect.promise(async () => {
        for (const client of server.clients) client.terminate()
        await new Promise((resolve) => server.close(resolve))
      })
  )

/** Accepts the handshake of each connection by hand, and then sends any bytes. */
const rawServer = (onOpen: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => undefined)
        socket.once("data", (head) => {
          const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? ""
          const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")
          socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`
          )
          onOpen(socket)
        })
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      const address = server.address()
      return {
        server,
        sockets,
        url: `ws://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`
      }
    }),
    ({ server, sockets }) =>
      Effect.promise(async () => {
        for (const socket of sockets) socket.destroy()
        await new Promise((resolve) => server.close(resolve))
      })
  )

const open = (url: string, more: { protocols?: Array<string>; headers?: Array<[string, string]>; env?: number } = {}) =>
  Effect.gen(function* () {
    const { protocols = [], headers = [], env = 1 } = more
    return yield* (yield* Egress).openWebSocket(envOf(env), { url, protocols, headers })
  })

const refusal = (url: string, more = {}) =>
  Effect.map(Effect.flip(Effect.scoped(open(url, more))), (error) => [error._tag, error.message])

const text = (value: string): WebSocketMessage => ({ isBinary: false, bytes: Buffer.from(value) })

/** Receives until the end, and returns the messages as text and the end. */
const receiveAll = Effect.fnUntraced(function* (socket: EgressWebSocket) {
  const messages: Array<string> = []
  while (true) {
    const received = yield* socket.receive(1024)
    if ("code" in received) return { messages, end: received }
    messages.push(...received.map(({ bytes }) => Buffer.from(bytes).toString()))
  }
})

describe("a WebSocket", () => {
  it.live("sends and receives text and bytes in order, and closes with a code", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const { port } = yield* echoServer((socket, { "x-a": given, "sec-websocket-extensions": extensions }) => {
        seen.push(given, extensions)
        socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }))
        socket.on("close", (code, reason) => seen.push(code, reason.toString()))
      })
      const socket = yield* open(`ws://127.0.0.1:${port}/path?query`, {
        protocols: ["a", "b"],
        headers: [
          ["x-a", "1"],
          ["sec-websocket-extensions", "permessage-deflate"],
          ["connection", "close"]
        ]
      })
      assert.strictEqual(socket.protocol, "a")
      yield* socket.send(text("one"))
      yield* socket.send({ isBinary: true, bytes: new Uint8Array(100_000).fill(7) })
      yield* socket.send(text(""))
      const [first, second, third] = [
        yield* socket.receive(10),
        yield* socket.receive(10),
        yield* socket.receive(10)
      ].flatMap((each) => ("code" in each ? [] : each))
      assert.deepStrictEqual([first?.isBinary, Buffer.from(first?.bytes ?? []).toString()], [false, "one"])
      assert.deepStrictEqual([second?.isBinary, second?.bytes.length, second?.bytes[99_999]], [true, 100_000, 7])
      assert.deepStrictEqual([third?.isBinary, third?.bytes.length], [false, 0])
      yield* socket.close(3001, "enough")
      assert.deepStrictEqual(yield* receiveAll(socket), {
        messages: [],
        end: { code: 3001, reason: "enough", isClean: true }
      })
      // No compression was offered, although the guest asked for it.
      assert.deepStrictEqual(seen, ["1", undefined, 3001, "enough"])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("reports the end that the server chose, and a lost connection as 1006", () =>
    Effect.gen(function* () {
      let lose = false
      const { port } = yield* echoServer((socket) => {
        socket.send("last")
        if (lose) socket.terminate()
        else socket.close(4000, "bye")
      })
      const clean = yield* open(`ws://127.0.0.1:${port}`)
      assert.deepStrictEqual(yield* receiveAll(clean), {
        messages: ["last"],
        end: { code: 4000, reason: "bye", isClean: true }
      })
      lose = true
      const lost = yield* open(`ws://127.0.0.1:${port}`)
      assert.deepStrictEqual((yield* receiveAll(lost)).end, { code: 1006, reason: "", isClean: false })
      // Nothing can be sent any more, which is no failure.
      yield* lost.send(text("late"))
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("closes with its scope", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<number>()
      const { port } = yield* echoServer((socket) => socket.on("close", (code) => closed.resolve(code)))
      const scope = yield* Scope.make()
      yield* Scope.provide(open(`ws://127.0.0.1:${port}`), scope)
      yield* Scope.close(scope, Effect.runSync(Effect.exit(Effect.void)))
      assert.include([1001, 1006], yield* Effect.promise(() => closed.promise))
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

describe("the destination of a WebSocket", () => {
  it.live("is checked as that of a request", () =>
    Effect.gen(function* () {
      const refused = (reason: string) => ["EgressRefused", reason]
      assert.deepStrictEqual(
        yield* refusal("ws://127.0.0.1:9000/"),
        refused("127.0.0.1 is a loopback address, which is not allowed here")
      )
      assert.deepStrictEqual(
        yield* refusal("wss://169.254.169.254/"),
        refused("169.254.169.254 is a metadata address, which is not allowed here")
      )
      assert.deepStrictEqual(
        yield* refusal("ws://0x7f.1/"),
        refused("127.0.0.1 is a loopback address, which is not allowed here")
      )
      assert.deepStrictEqual(yield* refusal("ws://example.com:22/"), refused("port 22 is not allowed here"))
      assert.deepStrictEqual(yield* refusal("ws://a:b@example.com/"), refused("the URL must not include credentials"))
      for (const url of ["http://example.com/", "file:///etc/passwd", "ws+unix:///tmp/a.sock", "no"]) {
        assert.deepStrictEqual(yield* refusal(url), refused("the URL of a WebSocket must begin with ws: or wss:"), url)
      }
      assert.deepStrictEqual(
        yield* refusal("ws://example.com/", { headers: [["x", "a\r\nb: c"]] }),
        refused("the header x has an invalid value")
      )
    }).pipe(Effect.provide(egress()))
  )

  it.live("is resolved once, and connected to a checked address only", () =>
    Effect.gen(function* () {
      const outer = yield* echoServer((socket) => socket.send("outer"), "127.0.0.2")
      let answers = 0
      const dns = yield* nameServer((_, type) =>
        type === "AAAA" ? [] : [answers++ % 2 === 0 ? "127.0.0.2" : "127.0.0.1"]
      )
      yield* Effect.gen(function* () {
        const url = `ws://rebind.test:${outer.port}/`
        const socket = yield* open(url)
        const received = yield* socket.receive(10)
        assert.strictEqual("code" in received ? "" : Buffer.from(received[0]?.bytes ?? []).toString(), "outer")
        assert.deepStrictEqual(yield* refusal(url), [
          "EgressRefused",
          "rebind.test has a loopback address, which is not allowed here"
        ])
      }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow: ["127.0.0.2"] }, nameServers: [dns.at] })))
      assert.strictEqual(dns.questions.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("is not changed by a redirect, and must answer with the handshake", () =>
    Effect.gen(function* () {
      let inner = 0
      const target = yield* serve((_, response) => {
        inner++
        response.end()
      })
      const server = yield* serve((request, response) => {
        if (request.url === "/moved") response.writeHead(302, { location: target.url }).end()
        else response.end("hello")
      })
      const url = server.url.replace("http", "ws")
      const failed = (status: number) => ["EgressFailed", `the server answered the handshake with the status ${status}`]
      assert.deepStrictEqual(yield* refusal(`${url}/moved`), failed(302))
      assert.deepStrictEqual(yield* refusal(`${url}/page`), failed(200))
      assert.strictEqual(inner, 0)
      const [tag] = yield* refusal("ws://127.0.0.1:1/")
      assert.strictEqual(tag, "EgressRefused")
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

describe("the limits of WebSockets", () => {
  it.live("end a connection whose message is too large, before it is complete", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<number>()
      const { port } = yield* echoServer((socket) => {
        socket.on("close", (code) => closed.resolve(code))
        socket.send(new Uint8Array(300_000))
      })
      const socket = yield* open(`ws://127.0.0.1:${port}`)
      assert.strictEqual(socket.messageBytes, 200_000)
      assert.deepStrictEqual((yield* receiveAll(socket)).end, { code: 1006, reason: "", isClean: false })
      assert.strictEqual(yield* Effect.promise(() => closed.promise), 1009)
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, messageBytes: 200_000 } })))
  )

  it.live("stop a server that sends faster than the guest receives", () =>
    Effect.gen(function* () {
      let sent = 0
      const { port } = yield* echoServer((socket) => {
        const message = new Uint8Array(64 * 1024)
        const next = (): void => {
          if (sent === 1000) return
          sent++
          socket.send(message, (error) => {
            if (error === undefined || error === null) setImmediate(next)
          })
        }
        next()
      })
      const socket = yield* open(`ws://127.0.0.1:${port}`)
      let before = -1
      // The count stands still once the buffers of both systems are full.
      while (before !== sent) {
        before = sent
        yield* Effect.sleep("150 millis")
      }
      assert.isBelow(sent, 500)
      let received = 0
      while (received < 1000) {
        const messages = yield* socket.receive(1024 * 1024)
        if ("code" in messages) break
        received += messages.length
      }
      assert.strictEqual(received, 1000)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("end a connection with more tiny messages than the guest receives", () =>
    Effect.gen(function* () {
      const flood = Buffer.alloc(64 * 1024, Buffer.from([0x81, 0x00]))
      const closed = Promise.withResolvers<void>()
      const { url } = yield* rawServer((socket) => {
        socket.on("close", () => closed.resolve())
        const write = (): void => {
          while (!socket.destroyed && socket.write(flood));
          socket.once("drain", write)
        }
        write()
      })
      const socket = yield* open(url)
      yield* Effect.promise(() => closed.promise)
      const { messages, end } = yield* receiveAll(socket)
      assert.strictEqual(messages.length, 8192)
      assert.strictEqual(end.code, 1006)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("end a connection that sends pings and reads no pongs", () =>
    Effect.gen(function* () {
      const pings = Buffer.alloc(127 * 512, Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125)]))
      const closed = Promise.withResolvers<void>()
      const { url } = yield* rawServer((socket) => {
        socket.pause()
        socket.on("close", () => closed.resolve())
        const write = (): void => {
          while (!socket.destroyed && socket.write(pings));
          socket.once("drain", write)
        }
        write()
      })
      const before = process.memoryUsage().rss
      const socket = yield* open(url)
      assert.strictEqual((yield* receiveAll(socket)).end.code, 1006)
      assert.isBelow(process.memoryUsage().rss - before, 200 * 1024 * 1024)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("end a connection without traffic", () =>
    Effect.gen(function* () {
      const { port } = yield* echoServer(() => undefined)
      const socket = yield* open(`ws://127.0.0.1:${port}`)
      assert.strictEqual((yield* receiveAll(socket)).end.code, 1006)
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, socketIdleMs: 100 } })))
  )

  it.live("refuse more sockets than an environment, or the node, may have", () =>
    Effect.gen(function* () {
      const { port } = yield* echoServer(() => undefined)
      const url = `ws://127.0.0.1:${port}`
      const scope = yield* Scope.make()
      yield* Scope.provide(open(url), scope)
      yield* open(url)
      assert.deepStrictEqual(yield* refusal(url), ["EgressFailed", "the environment has 2 open sockets, its maximum"])
      yield* open(url, { env: 2 })
      assert.deepStrictEqual(yield* refusal(url, { env: 3 }), ["EgressFailed", "this server has no free sockets now"])
      yield* Scope.close(scope, Effect.runSync(Effect.exit(Effect.void)))
      yield* open(url)
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, socketsPerEnv: 2, sockets: 3 } })))
  )

  it.live("end a handshake that the guest gives up", () =>
    Effect.gen(function* () {
      const closed = Promise.withResolvers<void>()
      const server = createServer((socket) => {
        socket.on("error", () => undefined)
        socket.on("close", () => closed.resolve())
      })
      yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const opening = yield* Effect.forkChild(Effect.scoped(open(`ws://127.0.0.1:${port}`)))
      yield* Effect.promise(() => once(server, "connection"))
      yield* Fiber.interrupt(opening)
      yield* Effect.promise(() => closed.promise)
      yield* Effect.promise(() => new Promise((resolve) => server.close(resolve)))
    }).pipe(Effect.provide(loopback))
  )
})
