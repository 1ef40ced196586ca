/**
 * Removes expired previews, and deletes the rows and files of removed ones.
 *
 * The poll of the store reports that some are due. Every node may work on each of them, in bounded transactions. A preview
 * is forgotten when nothing of its environment remains.
 */
import { Effect, Latch, Layer } from "effect"
import type { StoreUnavailable } from "../../foundation/Errors.ts"
import { type EnvId, leastIdAt, RunId } from "../../foundation/Ids.ts"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { addMillis, now } from "../../foundation/time/Timestamp.ts"
import { FileStore } from "../../resources/files/FileStore.ts"
import type { Preview } from "../../resources/previews/Preview.ts"
import { makePreviewEnd } from "../../resources/previews/PreviewEnd.ts"
import { PreviewStore } from "../../resources/previews/PreviewStore.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { JournalStore } from "../journal/JournalStore.ts"
import { StorePoller } from "../journal/StorePoller.ts"

/** Maximum previews per query, and rows per transaction. */
const batch = 20
const rowsMax = 500

/** Pause between transactions, so that live work has priority. */
const pause = "100 millis"

/** Time until the next attempt if something remains, in milliseconds. */
const retryMs = 60_000

/** Greater than the ids of all runs. */
const lastRunId = leastIdAt(RunId, Number.POSITIVE_INFINITY)

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* PreviewStore
    const tenants = yield* Tenants
    const poller = yield* StorePoller
    const { end, removeProjects } = yield* makePreviewEnd
    const deleteContents = yield* makeDeleteContents
    const forget = Effect.fnUntraced(function* (preview: Preview) {
      yield* removeProjects(preview.env_id)
      yield* deleteContents(preview.env_id)
      let purged = yield* store.purge(preview.env_id, yield* now, rowsMax)
      while (purged === "More") {
        yield* Effect.sleep(pause)
        purged = yield* store.purge(preview.env_id, yield* now, rowsMax)
      }
      if (purged === "Waiting") return yield* store.postpone(preview.env_id, addMillis(yield* now, retryMs))
      yield* store.forget(preview)
      yield* tenants.changed
    })

    /** Handles all due previews after each poll that reports some. Each is due later or gone afterwards. */
    const handleDue = Effect.fnUntraced(function* (
      which: "expired" | "removed",
      handle: (preview: Preview) => Effect.Effect<void, StoreUnavailable>
    ) {
      const wake = Latch.makeUnsafe(false)
      yield* poller.onPoll(({ previews }) => {
        if (previews) wake.openUnsafe()
      })
      const pass = Effect.gen(function* () {
        yield* wake.await
        wake.closeUnsafe()
        let due: ReadonlyArray<Preview>
        do {
          due = yield* store.due(which, yield* now, batch)
          for (const preview of due) yield* handle(preview)
        } while (due.length === batch)
      })
      yield* forkSupervised({ name: `The removal of ${which} previews` }, pass)
    })

    // Expired previews do not wait for the deletion of many rows.
    yield* handleDue("expired", (preview) => Effect.catchTag(end(preview), "NotFound", () => Effect.void))
    yield* handleDue("removed", forget)
  })
)

/** Returns a function that deletes the ended runs and the files of an environment. */
const makeDeleteContents = Effect.gen(function* () {
  const journal = yield* JournalStore
  const files = yield* FileStore

  return Effect.fnUntraced(function* (envId: EnvId): Effect.fn.Return<void, StoreUnavailable> {
    while ((yield* journal.purge(envId, lastRunId, rowsMax)) > 0) yield* Effect.sleep(pause)
    while (true) {
      const { items } = yield* files.list(envId, { limit: rowsMax, offset: 0 }, {})
      const at = yield* now
      for (const { file_id } of items) {
        yield* Effect.catchTag(files.remove(envId, file_id, at), "NotFound", () => Effect.void)
      }
      if (items.length === 0) return
      yield* Effect.sleep(pause)
    }
  })
})
