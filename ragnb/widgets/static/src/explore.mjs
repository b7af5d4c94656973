// Explorables: a question, one or two controls, a figure and one sentence that changes. They run without a kernel.

import css from "../explore.css";
import { conformal } from "./explore_conformal.mjs";
import { fieller } from "./explore_fieller.mjs";
import { judge } from "./explore_judge.mjs";
import { mcnemar } from "./explore_mcnemar.mjs";
import { noise } from "./explore_noise.mjs";
import { permutation } from "./explore_permutation.mjs";
import { power } from "./explore_power.mjs";
import { trace } from "./explore_trace.mjs";
import { mount } from "./explorable.mjs";

const EXPLORABLES = { conformal, fieller, judge, mcnemar, noise, permutation, power, trace };

// Replace the static form inside an element, which is still printed.
export const start = (host, name, question, data) => mount(host, css, question, data, EXPLORABLES[name]);
