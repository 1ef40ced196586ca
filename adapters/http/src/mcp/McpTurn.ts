/** Turns for the parts of an MCP request that take long: parsing and serializing large messages. */
import type { EnvId } from "@weft/core"
import { nextTurn, Turns } from "@weft/core/adapter"
import { Effect } from "effect"

/** Waits for a turn of the environment, for a part of a request that was admitted before. */
export const takeMcpTurn = (envId: EnvId): Effect.Effect<void> =>
  Effect.flatMap(Turns, (turns) => nextTurn(turns, envId, "request"))
