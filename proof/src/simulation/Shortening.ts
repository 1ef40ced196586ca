/** Shortens a failing scenario to the steps and faults that it needs. */
import type { Scenario } from "./Scenario.ts"

/**
 * Removes steps and faults while the scenario still fails: first halves, then smaller parts, until no single one can be
 * removed. Calls `fails` at most `triesMax` times.
 */
export const shorten = async (
  scenario: Scenario,
  fails: (shorter: Scenario) => Promise<boolean>,
  triesMax = 400
): Promise<Scenario> => {
  let tries = 0
  let least = scenario
  const without = async <Part extends "steps" | "faults">(part: Part): Promise<boolean> => {
    let hasChanged = false
    for (let size = Math.ceil(least[part].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < least[part].length && tries < triesMax; ) {
        tries++
        const shorter = { ...least, [part]: least[part].filter((_, index) => index < from || index >= from + size) }
        if (await fails(shorter)) {
          least = shorter
          hasChanged = true
        } else from += size
      }
    }
    return hasChanged
  }
  while (tries < triesMax && ((await without("faults")) || (await without("steps"))));
  return least
}
