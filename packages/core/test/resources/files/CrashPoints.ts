/** Stores that can be stopped at any step: right before, or right after, one of their calls. */
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { onStores } from "./Fixtures.ts"

interface Steps {
  readonly step: Effect.Effect<void>
}

/** Counts steps. From step `stopAt` on, completes `reached` and continues after `resume`. */
const countSteps = (stopAt: number, reached: Deferred.Deferred<void>, resume: Effect.Effect<void>): Steps => {
  let n = 0
  return {
    step: Effect.suspend(() => {
      n += 1
      return n >= stopAt ? Effect.andThen(Deferred.succeed(reached, undefined), resume) : Effect.void
    })
  }
}

const around =
  ({ step }: Steps) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.andThen(step, Effect.tap(call, step))

const streaming = <A, E>({ step }: Steps, stream: Stream.Stream<A, E>) => Stream.tap(stream, () => step)

const steppedBlobs = (steps: Steps) =>
  Effect.map(BlobStore, (store) => {
    const at = around(steps)
    return BlobStore.of({
      ...store,
      remove: (key) => at(store.remove(key)),
      write: (key, bytes) => at(store.write(key, streaming(steps, bytes))),
      beginParts: (key) => at(store.beginParts(key)),
      writePart: (key, parts, number, bytes) => at(store.writePart(key, parts, number, streaming(steps, bytes))),
      joinParts: (key, parts, chosen) => at(store.joinParts(key, parts, chosen)),
      dropParts: (key, parts) => at(store.dropParts(key, parts))
    })
  })

const steppedFiles = (steps: Steps) =>
  Effect.map(FileStore, (store) => {
    const at = around(steps)
    return FileStore.of({
      ...store,
      reserve: (key, until) => at(store.reserve(key, until)),
      extend: (key, until) => at(store.extend(key, until)),
      store: (file, terms) => at(store.store(file, terms)),
      remove: (envId, id, until) => at(store.remove(envId, id, until)),
      release: (keys) => at(store.release(keys)),
      insertUpload: (upload) => at(store.insertUpload(upload)),
      putPart: (envId, id, part, terms) => at(store.putPart(envId, id, part, terms)),
      parts: (envId, id) => at(store.parts(envId, id)),
      completeUpload: (id, file, terms) => at(store.completeUpload(id, file, terms)),
      removeUpload: (envId, id) => at(store.removeUpload(envId, id))
    })
  })

/** The services of files whose stores run these steps. */
const servicesWith = (steps: Steps) =>
  onStores.pipe(
    Layer.provide(
      Layer.merge(Layer.effect(BlobStore, steppedBlobs(steps)), Layer.effect(FileStore, steppedFiles(steps)))
    )
  )

type Services = Layer.Success<typeof onStores>

/** Interrupts the effect at a step. Returns false if it ended before. */
export const interruptAt = Effect.fnUntraced(function* <E>(
  stopAt: number,
  effect: Effect.Effect<unknown, E, Services>
) {
  const reached = yield* Deferred.make<void>()
  const resume = yield* Deferred.make<void>()
  const services = servicesWith(countSteps(stopAt, reached, Deferred.await(resume)))
  const fiber = yield* Effect.forkChild(Effect.provide(effect, services, { local: true }))
  const stopped = yield* Effect.raceFirst(
    Effect.as(Deferred.await(reached), true),
    Effect.as(Fiber.await(fiber), false)
  )
  const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
  yield* Effect.yieldNow
  yield* Deferred.succeed(resume, undefined)
  yield* Fiber.await(interrupting)
  return stopped
})

/** Stops the effect at a step, like the end of the process. Returns false if it ended before. */
export const dieAt = Effect.fnUntraced(function* <E>(stopAt: number, effect: Effect.Effect<unknown, E, Services>) {
  const reached = yield* Deferred.make<void>()
  const services = servicesWith(countSteps(stopAt, reached, Effect.uninterruptible(Effect.never)))
  // Detached, because no finalizer runs in a process that was killed.
  const fiber = yield* Effect.forkDetach(Effect.provide(effect, services, { local: true }))
  return yield* Effect.raceFirst(Effect.as(Deferred.await(reached), true), Effect.as(Fiber.await(fiber), false))
})
