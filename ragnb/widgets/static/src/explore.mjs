// Explorables: a question, a few controls, a figure and one sentence that changes. They run without a kernel.

import css from "../explore.css";
import { mount } from "./explorable.mjs";
import { EXPLORABLES } from "./explorables.mjs";

// Replace the static form inside an element, which is still printed.
export const start = (host, name, question, data) => mount(host, css, question, data, EXPLORABLES[name]);
