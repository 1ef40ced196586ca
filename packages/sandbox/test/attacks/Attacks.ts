/** All attacks, by target. */
import type { Attack } from "./Attack.ts"
import { generousSliceMs, shortSliceMs } from "./AttackHarness.ts"
import { limitAttacks, loopAttacks } from "./limits.ts"
import { optionalAttacks } from "./optional.ts"
import { realmAttacks } from "./realms.ts"

export interface Theme {
  readonly name: string
  readonly attacks: ReadonlyArray<Attack>
  /** CPU slice of a guest, in milliseconds. */
  readonly cpuSliceMs: number
}

export const themes: ReadonlyArray<Theme> = [
  { name: "realms", attacks: realmAttacks, cpuSliceMs: generousSliceMs },
  { name: "limits", attacks: limitAttacks, cpuSliceMs: generousSliceMs },
  { name: "optional APIs", attacks: optionalAttacks, cpuSliceMs: generousSliceMs },
  { name: "time", attacks: loopAttacks, cpuSliceMs: shortSliceMs }
]
