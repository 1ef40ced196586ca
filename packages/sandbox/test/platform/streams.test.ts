import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest } from "./Guest.ts"

const collect = `const collect = async (stream) => { const all = []; for await (const chunk of stream) all.push(chunk); return all };`

describe("streams", () => {
  sameAsNode({
    "pipe through transforms": `${collect}
      const source = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.enqueue(3); c.close() } })
      const double = new TransformStream({ transform(chunk, c) { c.enqueue(chunk * 2) }, flush(c) { c.enqueue("end") } })
      return collect(source.pipeThrough(double))`,
    "pipe to sinks, with backpressure": `
      const order = []
      let next = 0
      const source = new ReadableStream({ pull(c) { if (next === 3) c.close(); else { order.push("pull" + next); c.enqueue(next++) } } }, { highWaterMark: 0 })
      const sink = new WritableStream({ async write(chunk) { order.push("write" + chunk); await null }, close() { order.push("close") } })
      await source.pipeTo(sink)
      return order.filter((step) => !step.startsWith("pull")).concat(order.length)`,
    tee: `${collect}
      const [a, b] = new ReadableStream({ start(c) { c.enqueue("x"); c.enqueue("y"); c.close() } }).tee()
      return [await collect(a), await collect(b)]`,
    "come from iterables": `${collect}
      return collect(ReadableStream.from([1, Promise.resolve(2), 3]))`,
    "are cancelled with a reason": `
      let why
      const stream = new ReadableStream({ cancel(reason) { why = reason } })
      await stream.cancel("enough")
      return why`,
    "propagate errors": `
      const stream = new ReadableStream({ start(c) { c.error(new RangeError("broken")) } })
      return (await stream.getReader().read().catch((error) => error.message))`,
    "stop piping when a signal aborts": `
      const controller = new AbortController()
      const seen = []
      const piping = new ReadableStream({ pull() {}, cancel(r) { seen.push("cancel", r) } }).pipeTo(
        new WritableStream({ abort(r) { seen.push("abort", r) } }), { signal: controller.signal })
      controller.abort("stop")
      return [await piping.catch((reason) => reason), seen.sort()]`,
    "read into given buffers": `
      const stream = new ReadableStream({ type: "bytes", pull(c) { c.enqueue(new Uint8Array([1, 2, 3, 4, 5])); c.close() } })
      const reader = stream.getReader({ mode: "byob" })
      const first = await reader.read(new Uint8Array(2))
      const second = await reader.read(new Uint8Array(8))
      return [[...first.value], [...second.value], second.done]`,
    lock: `
      const stream = new ReadableStream()
      stream.getReader()
      try { stream.getReader() } catch (error) { return [stream.locked, error.name] }`,
    "encode and decode text over the borders of chunks": `${collect}
      const text = await collect(ReadableStream.from([[0xf0, 0x9f], [0x98], [0x80, 0x61]].map((b) => new Uint8Array(b))).pipeThrough(new TextDecoderStream()))
      const bytes = await collect(ReadableStream.from(["a\\ud83d", "\\ude00", "\\ud800"]).pipeThrough(new TextEncoderStream()))
      return [text.join(""), bytes.flatMap((chunk) => [...chunk])]`,
    "fail to decode malformed input with fatal": `${collect}
      return collect(ReadableStream.from([new Uint8Array([0xff])]).pipeThrough(new TextDecoderStream("utf-8", { fatal: true })))`,
    "have their classes": `
      const stream = new ReadableStream()
      return [Object.prototype.toString.call(stream), stream.getReader() instanceof ReadableStreamDefaultReader,
        new WritableStream().getWriter() instanceof WritableStreamDefaultWriter, new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark,
        new ByteLengthQueuingStrategy({ highWaterMark: 1 }).size(new Uint8Array(4)), TextDecoderStream.name]`
  })

  it("run on timers of the guest", async () => {
    const guest = await Guest.start()
    guest.evaluate(`
      globalThis.seen = []
      const ticks = new ReadableStream({ async pull(c) { await new Promise((resolve) => setTimeout(resolve, 10)); c.enqueue(performance.now()) } }, { highWaterMark: 0 })
      ;(async () => { for await (const tick of ticks) if (seen.push(tick) === 3) break })()`)
    await guest.advance(100)
    assert.strictEqual(guest.evaluate("seen.join()"), "10,20,30")
    assert.strictEqual(guest.pendingTimers, 0)
  })
})
