/**
 * Contents of files and assets that guests read in pieces: `files.open` or `asset.open` returns the first one, and
 * `content.read` the rest. Contents that a run leaves open are closed at its end.
 */
import { Effect, Exit, Scope, type Stream } from "effect"
import type { Run } from "../runs/Run.ts"
import { answerBytesMax, pieceText } from "./Bytes.ts"
import { refuse } from "./Operation.ts"
import { ReadAhead } from "./ReadAhead.ts"
import { type RunResource, runResources } from "./RunResources.ts"

/** First piece of a content: the reply of the call that opens it. */
export interface FirstPiece {
  /** Number that the guest chose for the content. */
  readonly id: number
  readonly max: number
  readonly text: boolean
}

type ContentFailure = { readonly _tag: string; readonly message: string }

class OpenContent implements RunResource {
  readonly #scope = Scope.makeUnsafe()
  readonly #onEnd: () => void
  #reader: ReadAhead<ContentFailure> | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    return Scope.close(this.#scope, Exit.void)
  })

  open(
    bytes: Effect.Effect<Stream.Stream<Uint8Array, ContentFailure>, ContentFailure, Scope.Scope>
  ): Effect.Effect<void, ContentFailure> {
    return Effect.gen({ self: this }, function* () {
      this.#reader = yield* ReadAhead.open(yield* bytes)
    }).pipe(
      Effect.provideService(Scope.Scope, this.#scope),
      Effect.onError(() => this.end)
    )
  }

  /** Returns the JSON text of the next piece. */
  read(max: number, text: boolean): Effect.Effect<string, ContentFailure> {
    return Effect.suspend(() => {
      const reader = this.#reader
      if (reader === undefined) return refuse("the content is not open yet")
      return Effect.flatMap(
        Effect.onError(reader.read(Math.min(max, answerBytesMax)), () => this.end),
        (taken) => Effect.as(taken.done ? this.end : Effect.void, pieceText(taken, text, reader.decodeText))
      )
    })
  }
}

export const openContents = runResources<OpenContent>()

/** Returns a function that opens a content under the guest's number and returns its first piece. */
export const contentOpener = Effect.map(
  openContents,
  (contents) =>
    (
      run: Run,
      { id, max, text }: FirstPiece,
      bytes: Effect.Effect<Stream.Stream<Uint8Array, ContentFailure>, ContentFailure, Scope.Scope>
    ): Effect.Effect<string, ContentFailure> =>
      Effect.suspend(() => {
        if (contents.find(run.run_id, id) !== undefined) return refuse("the content is being read")
        const content = new OpenContent(() => contents.remove(run.run_id, id))
        contents.add(run.run_id, id, content)
        return Effect.andThen(content.open(bytes), content.read(max, text))
      })
)
