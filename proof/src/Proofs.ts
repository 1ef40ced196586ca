/** All proofs by their name on the command line, in the order of the page. */
import { attacksProof } from "./attacks/AttackProof.ts"
import { compatibilityProof } from "./compatibility/CompatibilityProof.ts"
import { crashProof } from "./crash/CrashProof.ts"
import { fuzzProof } from "./fuzz/FuzzProof.ts"
import { neighboursProof } from "./neighbours/NeighboursProof.ts"
import { chaosProof } from "./nodes/ChaosProof.ts"
import type { Proof } from "./Proof.ts"
import { replayProof } from "./replay/ReplayProof.ts"
import { simulationProof } from "./simulation/SimulationProof.ts"
import { soakNodesProof, soakProof } from "./soak/SoakProof.ts"
import { testsProof } from "./tests/TestsProof.ts"

export const proofs: ReadonlyMap<string, Proof> = new Map([
  ["simulation", simulationProof],
  ["crash", crashProof],
  ["chaos", chaosProof],
  ["soak", soakProof],
  ["soak-nodes", soakNodesProof],
  ["attacks", attacksProof],
  ["neighbours", neighboursProof],
  ["fuzz", fuzzProof],
  ["compatibility", compatibilityProof],
  ["replay", replayProof],
  ["tests", testsProof]
])
