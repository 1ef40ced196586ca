/** The session on the server. It is opened again by the input after its end. */
import type { ReplSessionInput } from "@weft/client"
import { Effect } from "effect"
import type { Api } from "../../connection/Api.ts"
import type { Failure } from "../../Failure.ts"
import type { ReplSession } from "./ReplLoop.ts"

export interface RemoteSession extends ReplSession {
  readonly open: Effect.Effect<string, Failure>
  /** Returns candidates for the end of the source, and the text that they replace; none without a session. */
  readonly complete: (source: string) => Effect.Effect<[candidates: Array<string>, replaced: string]>
  readonly close: Effect.Effect<void>
}

export const makeRemoteSession = (
  api: Api["Service"],
  context: ReplSessionInput,
  timeout: number | undefined
): RemoteSession => {
  let id: string | null = null

  const open = Effect.suspend(() =>
    id !== null
      ? Effect.succeed(id)
      : Effect.map(
          api.request((weft, options) => weft.repl.open(context, options)),
          ({ repl_id }) => {
            id = repl_id
            return repl_id
          }
        )
  )
  const forget = Effect.sync(() => {
    id = null
  })

  return {
    open,
    input: (source) =>
      Effect.flatMap(open, (opened) =>
        api
          .request((weft, options) => weft.repl.input(opened, { source, timeout }, options))
          .pipe(
            Effect.tap(({ ended }) => (ended === null ? Effect.void : forget)),
            Effect.tapError(({ code }) => (code === "not_found" ? forget : Effect.void))
          )
      ),
    complete: (source) =>
      Effect.suspend(() => {
        const opened = id
        if (opened === null) return Effect.succeed<[Array<string>, string]>([[], ""])
        return api
          .request((weft, options) => weft.repl.complete(opened, { source, cursor: source.length }, options))
          .pipe(
            Effect.map(({ from, candidates }): [Array<string>, string] => [[...candidates], source.slice(from)]),
            Effect.orElseSucceed((): [Array<string>, string] => [[], ""])
          )
      }),
    close: Effect.suspend(() => {
      const opened = id
      return opened === null
        ? Effect.void
        : Effect.ignore(api.request((weft, options) => weft.repl.close(opened, options)))
    })
  }
}
