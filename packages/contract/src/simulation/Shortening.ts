/** Makes a scenario that shows a fault shorter, so that one can see what it takes. */
import type { Scenario } from "./Scenario.ts"

/**
 * The least that still goes wrong, as far as leaving out steps and faults goes: first halves of them, then ever smaller
 * parts, until not one can be left out. `goesWrong` is asked at most `triesMax` times.
 */
export const shorten = async (
  scenario: Scenario,
  goesWrong: (shorter: Scenario) => Promise<boolean>,
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
        if (await goesWrong(shorter)) {
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
