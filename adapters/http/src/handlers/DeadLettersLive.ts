/** Handlers for `DeadLettersApi`: one service call each, no decisions. */
import { toPageRequest, WeftApi } from "@weft/api"
import { type DeadLetterPass, DeadLetters } from "@weft/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { listing } from "./Listing.ts"

export const DeadLettersLive = HttpApiBuilder.group(
  WeftApi,
  "deadLetters",
  Effect.fnUntraced(function* (handlers) {
    const letters = yield* DeadLetters
    return handlers.handleAll({
      list: ({ query: { limit, offset, ...query } }) => {
        const page = toPageRequest({
          ...(limit === undefined ? {} : { limit }),
          ...(offset === undefined ? {} : { offset })
        })
        return Effect.map(letters.list(page, toSelection(query)), listing(page))
      },
      redrive: ({ payload: { dry_run, ...sent } }) => {
        const selection = toSelection(sent)
        return dry_run === true
          ? Effect.map(letters.previewRedrive(selection), (pass) => ({ redriven: 0, ...toMatched(pass) }))
          : Effect.map(letters.redrive(selection), ({ count, ...rest }) => ({ redriven: count, ...rest }))
      },
      discard: ({ payload: { dry_run, ...sent } }) => {
        const selection = toSelection(sent)
        return dry_run === true
          ? Effect.map(letters.previewDiscard(selection), (pass) => ({ discarded: 0, ...toMatched(pass) }))
          : Effect.map(letters.discard(selection), ({ count, ...rest }) => ({ discarded: count, ...rest }))
      }
    })
  })
)

const toMatched = ({ count, ...rest }: DeadLetterPass) => ({ matched: count, ...rest })

/** Returns the selection with the field names of core. */
const toSelection = <Sent extends { readonly event_type?: string }>({ event_type, ...selection }: Sent) => ({
  ...selection,
  ...(event_type === undefined ? {} : { eventType: event_type })
})
