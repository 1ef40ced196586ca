/** A body that exceeds the memory budget of all bodies. Its client may retry. */
import { Data } from "effect"

export class BodyBudgetExceeded extends Data.TaggedError("BodyBudgetExceeded") {}
