/** The content of a file or an asset, after `files.open` or `asset.open`. */
import { Effect, Schema } from "effect"
import { GuestId, Piece, PieceRequest } from "../Bytes.ts"
import { openContents } from "../Contents.ts"
import { endOperation } from "../endOperation.ts"
import { ofRun, refuse, textOperation } from "../Operation.ts"

const guest = { handWritten: "no method of svc: the streams of files and assets make these calls" }

export const contentRead = textOperation({
  name: "content.read",
  input: Schema.Struct({ id: GuestId, ...PieceRequest }),
  output: Piece,
  permission: ofRun,
  span: "none",
  guest,
  needs: openContents,
  handler:
    (contents) =>
    (run, { id, max, text }) =>
      Effect.suspend(() => contents.find(run.run_id, id)?.read(max, text) ?? refuse("the content has ended"))
})

export const contentCancel = endOperation("content.cancel", guest, openContents)
