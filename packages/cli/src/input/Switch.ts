/** Flags that are there or not: nobody says `--no-all`. */
import { Flag } from "effect/cli"

/** `alias`: one letter. */
export const switchFlag = (name: string, description: string, alias?: string): Flag.Flag<boolean> => {
  const flag = Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description))
  return Flag.withDefault(alias === undefined ? flag : Flag.withAlias(flag, alias), false)
}
