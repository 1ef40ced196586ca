export { type Scenario, scenarioOf } from "./Scenario.ts"
export { shorten } from "./Shortening.ts"
export { type Alter, type Counts, type Played, play, type SimulationOptions } from "./Simulation.ts"
