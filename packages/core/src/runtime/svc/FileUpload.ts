/** A file that a guest writes in several calls. It exists once the last one has returned. */
import { type Cause, Deferred, Effect, Exit, Queue, Scope, Stream } from "effect"
import type { File } from "../../resources/files/File.ts"
import type { Caller } from "../../tenants/access/Caller.ts"
import { refuse } from "./Operation.ts"
import { type RunResource, runResources } from "./RunResources.ts"

type UploadFailure = { readonly _tag: string; readonly message: string }

export class FileUpload implements RunResource {
  readonly #scope = Scope.makeUnsafe()
  readonly #stored = Deferred.makeUnsafe<File, UploadFailure>()
  readonly #onEnd: () => void
  #chunks: Queue.Queue<Uint8Array, Cause.Done> | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** Ends the upload. If it is not complete, nothing is stored. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    return Scope.close(this.#scope, Exit.void)
  })

  begin(
    store: (bytes: Stream.Stream<Uint8Array>) => Effect.Effect<File, UploadFailure, Caller>
  ): Effect.Effect<void, never, Caller> {
    return Effect.gen({ self: this }, function* () {
      const chunks = yield* Queue.bounded<Uint8Array, Cause.Done>(1)
      this.#chunks = chunks
      const storing = Effect.onExit(store(Stream.fromQueue(chunks)), (exit) => Deferred.done(this.#stored, exit))
      yield* Effect.forkIn(storing, this.#scope)
    })
  }

  /** Waits until the bytes are accepted. With the last ones, waits until the file is stored and returns it. */
  write(bytes: Uint8Array, done: boolean): Effect.Effect<File | null, UploadFailure> {
    return Effect.suspend(() => {
      const chunks = this.#chunks
      if (chunks === undefined) return refuse("the file is not being written")
      const offered = bytes.length === 0 ? Effect.void : Queue.offer(chunks, bytes)
      const written = done
        ? Effect.flatMap(Effect.andThen(offered, Queue.end(chunks)), () => Deferred.await(this.#stored))
        : Effect.as(offered, null)
      // A failed upload accepts no more bytes.
      return Effect.raceFirst(written, Deferred.await(this.#stored))
    }).pipe(Effect.onExit((exit) => (done || Exit.isFailure(exit) ? this.end : Effect.void)))
  }
}

export const fileUploads = runResources<FileUpload>()
