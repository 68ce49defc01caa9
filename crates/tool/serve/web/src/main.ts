/** What script adds to the pages of `assay serve`, which work without it. */
import { drawFigures } from "./charts";
import { checkExperiment } from "./editor";
import { submitForms } from "./forms";
import { followExperiment } from "./live";
import { copyTexts, focusScrollers, sortTables } from "./tables";

sortTables();
copyTexts();
submitForms();
checkExperiment();
followExperiment();
drawFigures();
focusScrollers();
