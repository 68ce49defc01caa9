/** What script adds to the pages of `assay serve`, which work without it. */
import { drawFigures } from "./charts";
import { checkExperiment } from "./editor";
import { submitForms } from "./forms";
import { watchExperiment } from "./live";
import { focusScrollers, sortTables } from "./tables";

sortTables();
submitForms();
checkExperiment();
watchExperiment();
drawFigures();
focusScrollers();
