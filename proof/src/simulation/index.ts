export {
  drawBatchScenario,
  drawFlowControlScenario,
  drawScenario,
  drawWorkflowScenario,
  type Scenario
} from "./Scenario.ts"
export { shorten } from "./Shortening.ts"
export { type Alter, type Counts, runScenario, type SimulationOptions, type SimulationResult } from "./Simulation.ts"
