/** Boolean flags without a negated form. */
import { Flag } from "effect/cli"

/** Creates a flag that is false by default. `alias` is one letter. */
export const switchFlag = (name: string, description: string, alias?: string): Flag.Flag<boolean> => {
  const flag = Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description))
  return Flag.withDefault(alias === undefined ? flag : Flag.withAlias(flag, alias), false)
}
