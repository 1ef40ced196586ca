/** All proofs, in the order of the page: the name on the command line, and what it is. */
import { attacksProof } from "./attacks.ts"
import { chaosProof } from "./chaos.ts"
import { crashProof } from "./crash.ts"
import { fuzzProof } from "./fuzz.ts"
import type { Proof } from "./Proof.ts"
import { simulationProof } from "./simulation.ts"
import { soakNodesProof, soakProof } from "./soak.ts"
import { testsProof } from "./tests.ts"

export const proofs: ReadonlyMap<string, Proof> = new Map([
  ["simulation", simulationProof],
  ["crash", crashProof],
  ["chaos", chaosProof],
  ["soak", soakProof],
  ["soak-nodes", soakNodesProof],
  ["attacks", attacksProof],
  ["fuzz", fuzzProof],
  ["tests", testsProof]
])
