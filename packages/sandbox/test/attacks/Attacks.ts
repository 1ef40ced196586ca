/** All attacks, by what they are directed at. */
import type { Attack } from "./Attack.ts"
import { limitAttacks, loopAttacks } from "./limits.ts"
import { briefMs, patientMs } from "./Range.ts"
import { realmAttacks } from "./realms.ts"

export interface Theme {
  readonly name: string
  readonly attacks: ReadonlyArray<Attack>
  /** How long a guest may compute without a pause. */
  readonly cpuSliceMs: number
}

export const themes: ReadonlyArray<Theme> = [
  { name: "realms", attacks: realmAttacks, cpuSliceMs: patientMs },
  { name: "limits", attacks: limitAttacks, cpuSliceMs: patientMs },
  { name: "time", attacks: loopAttacks, cpuSliceMs: briefMs }
]
