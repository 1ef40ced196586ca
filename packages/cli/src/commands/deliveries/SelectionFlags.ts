/** Flags that select pending deliveries. */
import { Flag } from "effect/cli"

export const selectionFlags = {
  project: Flag.String("project").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("Only of this project, also if it was removed: its id or its name"),
    Flag.optional
  ),
  fn: Flag.String("function").pipe(
    Flag.withMetavar("ns/var"),
    Flag.withDescription("Only of this function: ns/var or project:ns/var"),
    Flag.optional
  ),
  event: Flag.String("event-type").pipe(
    Flag.withMetavar("type"),
    Flag.withDescription("Only of events of this type"),
    Flag.optional
  )
}
