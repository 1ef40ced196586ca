/** Attacks through the optional APIs: bombs, floods and names that lead out of the realm. */
import { type Attack, contained, ends, returns } from "./Attack.ts"

const bounded = "resources and calls of a run are limited"
const inside = "objects of optional APIs belong to the realm of the guest"

/** Compresses 8 MB of zeros, about 8 kB. */
const bomb = `
  const bomb = new Uint8Array(await new Response(
    new Blob([new Uint8Array(8e6)]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer())`

export const optionalAttacks: ReadonlyArray<Attack> = [
  {
    name: "constructors of optional APIs as a way out",
    proves: inside,
    code: `
      const channel = new MessageChannel()
      return [ways([URLPattern, CompressionStream, MessageChannel, MessagePort, MessageEvent, BroadcastChannel, EventSource,
        WebSocket, CloseEvent, PerformanceObserver, new URLPattern({ pathname: "/:a" }), channel, channel.port1, new CompressionStream("gzip").readable,
        performance.mark("m"), new BroadcastChannel("b")]), typeof platform, typeof optional, Object.keys(globalThis).length]`,
    checkOutcome: returns([["home"], "undefined", "undefined", 0])
  },
  {
    name: "a bomb that nobody reads",
    proves: bounded,
    code: `${bomb}
      const writers = []
      for (let n = 0; n < 40; n++) {
        const writer = new DecompressionStream("gzip").writable.getWriter()
        writer.write(bomb).catch(() => {})
        writers.push(writer)
      }
      await new Promise((done) => setTimeout(done, 50))
      return writers.length`,
    checkOutcome: returns(40)
  },
  {
    name: "a bomb that is read and dropped",
    proves: bounded,
    code: `${bomb}
      let bytes = 0
      for await (const chunk of new Blob([bomb]).stream().pipeThrough(new DecompressionStream("gzip"))) bytes += chunk.length
      return bytes`,
    checkOutcome: ends("Returned", "CpuExhausted")
  },
  {
    name: "bombs that are kept",
    proves: bounded,
    code: `${bomb}
      const kept = []
      for (;;) kept.push(await new Response(new Blob([bomb]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer())`,
    checkOutcome: ends("OutOfMemory", "CpuExhausted", "LimitExceeded", "Threw", "RunnerLost")
  },
  {
    name: "messages without end in one go",
    proves: bounded,
    code: "const { port1, port2 } = new MessageChannel(); port2.onmessage = () => {}; for (;;) port1.postMessage({ n: 1 })",
    checkOutcome: ends("CpuExhausted", "OutOfMemory", "RunnerLost")
  },
  {
    name: "messages that answer messages",
    proves: bounded,
    code: `
      const { port1, port2 } = new MessageChannel()
      let count = 0
      port1.onmessage = () => { count++; port1.postMessage(1) }
      port2.onmessage = () => port2.postMessage(1)
      port1.postMessage(1)
      await new Promise((done) => setTimeout(done, 200))
      return count > 0`,
    checkOutcome: returns(true)
  },
  {
    name: "channels that shout at each other",
    proves: bounded,
    code: `
      for (let n = 0; n < 300; n++) {
        const channel = new BroadcastChannel("all")
        channel.onmessage = () => { channel.postMessage(1) }
      }
      new BroadcastChannel("all").postMessage(1)
      await new Promise((done) => setTimeout(done, 1000))
      return 1`,
    checkOutcome: ends("Returned", "CpuExhausted", "OutOfMemory", "LimitExceeded", "RunnerLost", "Threw")
  },
  {
    name: "event sources without end",
    proves: bounded,
    code: "const made = await attempt(() => { for (let n = 0; n < 5000; n++) new EventSource('https://a.test/' + n) }); return made",
    checkOutcome: contained
  },
  {
    name: "WebSockets without end",
    proves: bounded,
    code: "const made = await attempt(() => { for (let n = 0; n < 5000; n++) new WebSocket('wss://a.test/' + n) }); return made",
    checkOutcome: contained
  },
  {
    name: "messages of a WebSocket that forge host calls",
    proves: bounded,
    code: `
      const socket = new WebSocket("wss://a.test/", { headers: { "x": 'a"},"op":"forged' } })
      await new Promise((done) => setTimeout(done, 50))
      socket.binaryType = '","more":true'
      Object.defineProperty(String.prototype, "toJSON", { value: () => ({ op: "forged" }) })
      await attempt(() => socket.send('","binary":true,"op":"forged'))
      await attempt(() => socket.close(3000, '"},"op":"forged'))
      return socket.readyState`,
    checkOutcome: contained
  },
  {
    name: "patterns that backtrack without end",
    proves: bounded,
    code: `return new URLPattern({ pathname: "/((?:a+)+)b" }).test({ pathname: "/" + "a".repeat(60) })`,
    // On a busy machine, the time limit of the run comes before that of the processor.
    checkOutcome: ends("CpuExhausted", "Returned", "RunnerLost", "TimedOut")
  },
  {
    name: "marks without end",
    proves: bounded,
    code: "for (let n = 0; n < 3e4; n++) performance.mark('m' + n); return performance.getEntries().length",
    checkOutcome: ends("Returned", "CpuExhausted")
  },
  {
    name: "the binding of sockets as a way out",
    proves: inside,
    code: `
      const binding = globalThis["weft:sockets"]
      const socket = binding.connect("a.test:1")
      return ways([binding, binding.connect, binding.Connection, socket, socket.readable, socket.writable, socket.opened])`,
    checkOutcome: returns(["home"])
  },
  {
    name: "the binding of lookups as a way out, with names that forge host calls",
    proves: inside,
    code: `
      const binding = globalThis["weft:dns"]
      Object.defineProperty(String.prototype, "toJSON", { value: () => ({ op: "forged" }) })
      const found = binding.lookup('a"},"op":"forged')
      await attempt(() => binding.lookup({ toString: () => "refuse" }))
      return ways([binding, binding.lookup, found, await found])`,
    checkOutcome: returns(["home"])
  },
  {
    name: "lookups without end",
    proves: bounded,
    code: `return await attempt(() => { for (let n = 0; n < 5000; n++) globalThis["weft:dns"].lookup("n" + n + ".test") })`,
    checkOutcome: contained
  },
  {
    name: "sockets without end",
    proves: bounded,
    code: `const made = await attempt(() => { for (let n = 0; n < 5000; n++) globalThis["weft:sockets"].connect("a.test:1") }); return made`,
    checkOutcome: contained
  },
  {
    name: "hosts of sockets that forge host calls",
    proves: bounded,
    code: `
      const { connect } = globalThis["weft:sockets"]
      Object.defineProperty(String.prototype, "toJSON", { value: () => ({ op: "forged" }) })
      const socket = connect({ hostname: 'a"},"op":"forged', port: 1 }, { secureTransport: "starttls" })
      await attempt(() => socket.startTls({ expectedServerHostname: '"},"op":"forged' }).opened)
      await attempt(() => connect({ hostname: { toString: () => "b" }, port: { valueOf: () => 1 } }).opened)
      return 1`,
    checkOutcome: contained
  }
]
